#!/bin/bash
# Checks the completions of bash, and of zsh and fish where they are installed, by asking them.
# Usage: completion.sh PROGRAM FOLDER
set -euo pipefail
program=$1 folder=$2
unset "${!STEPSIM_@}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
# shellcheck source=/dev/null
source "$folder/stepsim.bash"
complete -p stepsim | grep -q -- '-F _stepsim' || { echo "bash has no completion of stepsim"; exit 1; }

# What bash has while it completes: a blank behind the word, or none.
blank=1
compopt() { [[ $* != "-o nospace" ]] || blank=0; }

# The words as readline cuts them: = and : are words of their own.
in_bash() { COMP_WORDS=("$program" "$@") COMP_CWORD=$#; _stepsim "$program"; found=("${COMPREPLY[@]}"); }

in_zsh() {
  mapfile -t found < <(zsh -f -c '
    compadd() { [[ $1 != -S ]] || shift 2; print -rl -- "${(@P)5}"; }
    _files() { :; }
    file=$1; shift
    words=("$@") CURRENT=$#
    source $file' zsh "$folder/_stepsim" "$program" "$@")
}

in_fish() {
  mapfile -t found < <(fish --no-config -c '
    set PATH (dirname $argv[1]) $PATH
    source $argv[2]
    complete --do-complete "stepsim $argv[3..]"' "$program" "$folder/stepsim.fish" "$*" | cut -f1)
}

# expect SHELL FOUND WORD...: behind the words stands FOUND, words with blanks between, and nothing else.
expect() {
  "in_$1" "${@:3}"
  [[ "${found[*]}" == "$2" ]] || { echo "$1: ${*:3}: '${found[*]}' instead of '$2'"; exit 1; }
}

for shell in bash zsh fish; do
  if [[ $shell == zsh ]] && ! command -v zsh >/dev/null; then continue; fi
  if [[ $shell == fish ]] && ! command -v fish >/dev/null; then continue; fi
  expect "$shell" "validate" va
  [[ $shell != bash ]] || ((blank))
  expect "$shell" "parallelism." run x.yaml --set par
  ((!blank)) || { echo "bash: a blank behind parallelism."; exit 1; }
  expect "$shell" "parallelism.tensor=" run x.yaml --set parallelism.ten
  expect "$shell" "training.recompute. training.recompute=" run x.yaml --set training.recompute
  expect "$shell" "parallelism.tensor=" sweep x.yaml --vary parallelism.ten
  expect "$shell" "llama3-70b" show model llama3-7
  expect "$shell" "dgx-h100 dgx-h200" import deepspeed ds.json --cluster dgx-h
  expect "$shell" "models" list mod
  expect "$shell" "table" run x.yaml --format t
  expect "$shell" "probe" calibrate pro
  expect "$shell" "" run no-such-fi
done
expect bash "llama3-70b" run x.yaml --set model = llama3-7
expect bash "true false" run x.yaml --set parallelism.sequence =
expect bash "h100 h100-hbm2e" run --set = cluster.gpu = h100
expect bash "training.micro_batch,parallelism.tensor=" sweep x.yaml --vary training.micro_batch,parallelism.ten
expect bash "" sweep x.yaml --vary training.micro_batch,parallelism.tensor = 1:8,2:

# Every option that --help shows, of every command.
commands() { "$program" "$@" --help | sed -nE '/^Subcommands:/,/^$/s/^  ([a-z-]+) .*/\1/p'; }
check_options() {
  local command
  diff <("$program" "$@" --help | grep -oE '^  (-[a-z],)?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort) \
    <("$program" complete -- "$@" -- | cut -f1 | sort) || { echo "options of: stepsim $*"; exit 1; }
  for command in $(commands "$@"); do check_options "$@" "$command"; done
}
check_options
