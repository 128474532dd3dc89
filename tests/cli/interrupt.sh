#!/bin/bash
# Checks from outside what Ctrl-C does before anything is known.
# Usage: interrupt.sh PROGRAM
set -euo pipefail
export command=()
# shellcheck source=tests/cli/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

# A scenario that is a pipe: whoever opens it to write goes on once the program opens it to read.
mkfifo scenario.yaml
for words in "sweep scenario.yaml --vary training.micro_batch=1,2" "search scenario.yaml" \
  "explain scenario.yaml" "validate scenario.yaml"; do
  set -m
  # shellcheck disable=SC2086  # several words
  "$program" $words >out 2>err </dev/null &
  set +m
  job=$!
  exec 3>scenario.yaml
  kill -INT $job
  code=0
  wait $job || code=$?
  exec 3>&-
  ((code == 3)) || fail "Ctrl-C while it reads, ${words%% *}: exits with $code instead of 3"
  has "Ctrl-C while it reads" "interrupted before the first simulation" err
  [[ ! -e scenario.sweep.db ]] || fail "Ctrl-C while it reads: there is a file of results"
done
