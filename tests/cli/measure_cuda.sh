#!/bin/bash
# Checks what the CUDA harness says and how it exits where there is no GPU, or none that it may see.
# Usage: measure_cuda.sh PROGRAM
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

expect "without a GPU" 3 -o my.json
grep -qE '^stepsim-measure-cuda: nothing to measure: there is no NVIDIA (GPU|driver) on this machine$' err ||
  fail "without a GPU it does not say so"
(($(wc -l <err) == 1)) || fail "without a GPU it says more than one sentence"
[[ ! -s out && ! -e my.json ]] || fail "without a GPU it writes something"

expect "--list" 0 --list
mv out all
(($(wc -l <all) > 1000)) || fail "--list is short"
[[ -z $(sort all | uniq -d) ]] || fail "--list repeats itself"
expect "--list of some kinds" 0 --list --only copy,launch
diff out <(grep -E '^(copy|launch) ' all) || fail "--only changes the order"

expect "an unknown kind" 2 --only gem
grep -q "did you mean 'gemm'?" err || fail "no proposal for --only gem"
expect "a budget without a unit" 2 --budget 10
expect "help" 0 --help
grep -q "Exit codes" out || fail "--help has no exit codes"
