#!/bin/bash
# Writes what the program prints today, one file an output. Usage: write.sh PROGRAM FOLDER
set -euo pipefail
program=$1 folder=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tiny=$root/tests/golden/tiny.yaml

# Errors to expect come from a made-up record, for the suites' own changes with every suite.
export STEPSIM_LIBRARY=$root/tests/golden/library

# Provenance changes with every word of a profile; the numbers do not.
run_json() { "$program" run "$1" --format json | sed '/^  "provenance": {/,/^  }/d'; }

for scenario in "$root"/scenarios/*.yaml; do
  run_json "$scenario" >"$folder/$(basename "$scenario" .yaml).json"
done
run_json "$tiny" >"$folder/tiny.json"
for what in ops plan timeline; do
  "$program" show "$what" "$tiny" >"$folder/tiny.$what.txt"
done
"$program" run "$tiny" >"$folder/tiny.table.txt"
"$program" run "$tiny" --format csv >"$folder/tiny.csv"
"$program" run "$root/scenarios/gpt3-175b-1024xa100.yaml" >"$folder/gpt3-175b-1024xa100.table.txt"
