#!/bin/bash
# Checks `stepsim search` from outside: what it refuses, what it writes, what it says of memory and
# of failures, and Ctrl-C. Usage: search.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "$1"; cat out err; exit 1; }
# expect CASE CODE [ARGUMENT...]: exits with CODE; what it prints is in out and err.
expect() {
  local code=0
  "$program" search "${@:3}" >out 2>err </dev/null || code=$?
  ((code == $2)) || fail "$1: exits with $code instead of $2"
}
has() { tr -s ' \n' ' ' <"${3:-out}" | grep -qF -- "$2" || fail "$1: there is no '$2'"; }
lacks() { ! tr -s ' \n' ' ' <"${3:-out}" | grep -qF -- "$2" || fail "$1: there is '$2'"; }

cat >a.yaml <<'END'
model: mpt-125m
cluster: dgx-a100-80
training: {sequence_length: 2048, attention: flash1, global_batch: 8}
END
cp a.yaml before.yaml

expect "help" 0 --help
has "help" "1 none fits in memory"
has "help" "Example: stepsim search"

expect "what no number of GPUs divides by" 2 a.yaml --only tensor=3
has "what no number of GPUs divides by" "tensor can be 1, 2, 4, 8" err
expect "what does not fit together" 2 a.yaml --only tensor=8 --only micro_batch=3
has "what does not fit together" "micro_batch can be 1, 2, 4, 8" err
expect "what fits alone, but not together" 2 a.yaml --only tensor=8 --only context=8
has "what fits alone, but not together" "no strategy that fits together is left" err

expect "the file that was read" 2 a.yaml -o ./a.yaml
has "the file that was read" "this is the scenario that is searched" err
cmp a.yaml before.yaml || fail "the scenario was replaced"
expect "a folder that is not there" 4 a.yaml -o none/best.yaml
[[ ! -s out ]] || fail "it searched before it looked at the file to write"

few=(--only context=1 --only schedule=1f1b --only tensor=1,2 --only bucket=100)
expect "no budget" 0 a.yaml "${few[@]}" --budget "0.0001 s"
has "no budget" "Not proven the time is over (--budget allows more); those that are left have bounds"

# A GPU on which nothing fits.
cat >big.yaml <<'END'
model: gpt3-175b
cluster: dgx-a100-80
training: {sequence_length: 2048, global_batch: 8}
END
expect "several sizes, nothing fits" 1 big.yaml --gpus 8,16 --only context=1 --only tensor=8
has "several sizes, nothing fits" "nothing fits the closest is"
lacks "several sizes, nothing fits" "Proven"
lacks "several sizes, nothing fits" "no other size"

# Stages of both copies of a model wait for each other's buckets, or not: the search has an answer.
cat >megatron.yaml <<'END'
framework: megatron
model: llama2-13b
cluster: {base: dgx-h100, nodes: 2}
training: {sequence_length: 4096, global_batch: 64, attention: flash2}
END
expect "both copies of a model" 0 megatron.yaml --only context=1 --only tensor=1 \
  --only pipeline=2 --only schedule=dualpipe,1f1b --only sharding=ddp,zero1
has "both copies of a model" "Best"

cat >long.yaml <<'END'
model: gpt3-175b
cluster: {base: dgx-a100-80, nodes: 128}
training: {sequence_length: 2048, global_batch: 1536}
parallelism: {tensor: 8, pipeline: {stages: 8}}
END
# Limits of time end a strategy, not the search. A simulation here takes some 0.1 s of work, but a
# machine that is busy may look too late at one or the other.
code=0
"$program" search long.yaml --only tensor=8 --only pipeline=8 --only context=1 --only schedule=1f1b \
  --only sharding=ddp --only bucket=100 --simulations 4 --strategy-timeout "0.001 s" \
  >out 2>err </dev/null || code=$?
((code <= 1)) || fail "no time: exits with $code"
has "no time" " failed"
has "no time" ": longer than 0.001 s"
has "no time" "failed could be faster by their bounds"

# Ctrl-C while it simulates the scenario itself, bounds, or simulates. Jobs in the background of a
# shell ignore SIGINT; SIGTERM is noted in the same way.
for after in 0.3 1; do
  "$program" search long.yaml >out 2>err </dev/null &
  search=$!
  sleep "$after"
  kill -TERM "$search"
  code=0
  wait "$search" || code=$?
  # A fast machine may be done before.
  if ((code != 0)); then
    ((code == 3)) || fail "interrupted after $after s: exits with $code"
    has "interrupted after $after s" "Not proven"
    has "interrupted after $after s" "interrupted"
  fi
done
