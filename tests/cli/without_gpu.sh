# Sourced by checks of programs for GPUs where there is none, or none that they may see: a folder of their own, and
# what a program has to say. The program is the first argument.
set -euo pipefail
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export CUDA_VISIBLE_DEVICES=-1

# expect CASE CODE [ARGUMENT...]: exits with CODE; what it prints is in out and err.
expect() {
  local code=0
  "$program" "${@:3}" >out 2>err </dev/null || code=$?
  ((code == $2)) || { echo "$1: exits with $code instead of $2"; cat err; exit 1; }
}
fail() { echo "$1"; cat out err; exit 1; }
