#!/bin/bash
# Checks that a program that gets no more memory says so and what to change, with a code of its own, in every command
# that simulates, wherever in its work memory ends.
# Usage: out_of_memory.sh PROGRAM
set -euo pipefail
command=()
# shellcheck source=tests/cli/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
cp "$root/scenarios/gpt3-175b-1024xa100.yaml" large.yaml

# limited KIB ARGUMENT...: the program with so much address space.
limited() { (ulimit -v "$1"; "$program" "${@:2}" >out 2>err </dev/null); }
# What the program itself takes, without a simulation. A build that watches its own memory takes terabytes.
least=60000
until limited $least list gpus; do
  ((least += 5000))
  ((least < 1000000)) || { echo "the program does not start with 1 GB"; exit 77; }
done
ends=0
for more in 0 8000 20000 35000 50000; do
  for words in "run large.yaml" "explain large.yaml" "compare large.yaml --vs training.micro_batch=2 --jobs 1"; do
    code=0
    # shellcheck disable=SC2086
    limited $((least + more)) $words || code=$?
    ((code == 0 || code == 5)) || fail "$words with $((least + more)) KiB: exits with $code instead of 5"
    ((code == 0)) || { has "$words" "out of memory" err && has "$words" "fewer steps (run.steps" err && ((ends += 1)); }
  done
done
((ends >= 5)) || fail "memory ended in $ends cases only"
