#!/bin/bash
# Checks from outside what Ctrl-C does before anything is known.
# Usage: interrupt.sh PROGRAM
set -euo pipefail
export command=()
# shellcheck source=tests/cli/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

# A scenario that is a pipe: whoever opens it to write goes on once the program opens it to read.
mkfifo scenario.yaml
interrupted() {  # WORDS CODE: ends with that code when Ctrl-C comes while it reads
  set -m
  # shellcheck disable=SC2086  # several words
  "$program" $1 >out 2>err </dev/null &
  set +m
  local job=$! code=0
  exec 3>scenario.yaml
  kill -INT $job
  wait $job || code=$?
  exec 3>&-
  ((code == $2)) || fail "Ctrl-C while it reads, ${1%% *}: exits with $code instead of $2"
}

for words in "sweep scenario.yaml --vary training.micro_batch=1,2" "search scenario.yaml" \
  "explain scenario.yaml" "validate scenario.yaml"; do
  interrupted "$words" 3
  has "Ctrl-C while it reads" "interrupted before the first simulation" err
  [[ ! -e scenario.sweep.db ]] || fail "Ctrl-C while it reads: there is a file of results"
done

# Other commands know nothing before their end: the signal ends them.
for words in "run scenario.yaml" "show plan scenario.yaml" "check scenario.yaml"; do
  interrupted "$words" 130
done
