# shellcheck shell=bash
# What checks of a sub-command from outside have in common; they source it with the program as $1.
# REQUIRES: `command`, the words after the program; empty: expect takes whole commands.
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder" || exit 2
export LC_ALL=C.UTF-8  # what `wc -L` and `sort` take for a letter

# begun PID: waits until that process is the program, and one that has a handler for SIGTERM, or has ended.
# Without /proc nobody knows; a second is what it takes then.
begun() {
  [[ -e /proc/self/status ]] || { sleep 1; return; }
  while kill -0 "$1" 2>/dev/null; do
    [[ ! /proc/$1/exe -ef $program ]] || ((!(0x$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status") & 0x4000))) ||
      return 0
    sleep 0.02
  done
}

# fail CASE: says which, and the beginning of what was printed.
fail() { echo "$1"; head -c 4000 out; tail -n 20 err | cut -c 1-200; exit 1; }
# expect CASE CODE [ARGUMENT...]: exits with CODE; what it prints is in out and err.
expect() {
  local code=0 words=("${@:3}")
  # shellcheck disable=SC2154  # set by those that source this
  ((${#command[@]} == 0)) || words=("$program" "${command[@]}" "${words[@]}")
  "${words[@]}" >out 2>err </dev/null || code=$?
  ((code == $2)) || fail "$1: exits with $code instead of $2"
}
# has CASE WORDS [FILE]: a line of out, or of that file, has them. lacks: none has.
has() { grep -qF -- "$2" "${3:-out}" || fail "$1: there is no '$2'"; }
lacks() { ! grep -qF -- "$2" "${3:-out}" || fail "$1: there is '$2'"; }
