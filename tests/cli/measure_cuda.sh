#!/bin/bash
# Checks what the CUDA harness says and how it exits where there is no GPU, or none that it may see.
# Usage: measure_cuda.sh PROGRAM
source "$(dirname -- "${BASH_SOURCE[0]}")/without_gpu.sh"

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
