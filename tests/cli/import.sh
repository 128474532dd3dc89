#!/bin/bash
# Checks from outside how words, files and signals come to imports and to what else reads files.
# Usage: import.sh PROGRAM
set -euo pipefail
command=()
# shellcheck source=tests/cli/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"
export TMPDIR=$folder/tmp
mkdir tmp

options=(--num-layers 24 --hidden-size 2048 --num-attention-heads 32 --seq-length 2048 --micro-batch-size 4
  --max-position-embeddings 2048 --vocab-size 50257)
echo "torchrun --nproc_per_node 8 pretrain_gpt.py ${options[*]} \$1" >train.sh

# Words behind -- are another program's.
expect "options" 0 "$program" import megatron "${options[@]}"
mv out without
expect "options behind --" 0 "$program" import megatron -- "${options[@]}"
cmp -s out without || fail "-- changes what options say"
expect "stepsim's own before --" 0 "$program" import megatron --nodes 2 -- "${options[@]}"
has "stepsim's own before --" "nodes: 2"
expect "an argument behind --" 0 "$program" import train.sh --num-layers 7 -- "--num-layers 5"
has "an argument behind --" "layers: 7"
expect "a file behind --" 0 "$program" import -- train.sh

# A script may come through a pipe.
for file in - /dev/stdin; do
  "$program" import megatron --file $file <train.sh >out 2>err || fail "a script on standard input, $file"
  # shellcheck disable=SC2002  # a pipe, not a file
  cat train.sh | "$program" import megatron --file $file >piped 2>err || fail "a script through a pipe, $file"
  cmp -s out piped || fail "a script through a pipe is another one, $file"
done
"$program" import megatron --file <(cat train.sh) >out 2>err || fail "a script of another command"
echo '{"train_batch_size": 64, "bf16": {"enabled": true}}' >ds.json
"$program" import deepspeed - --model mpt-125m <ds.json >out 2>err || fail "a configuration on standard input"
"$program" import <(cat ds.json) --model mpt-125m >out 2>err || fail "a configuration through a pipe"

# What holds no text is refused at once, and what is too large.
mkfifo nobody
truncate -s 200M huge
for words in run "import topo" import "show model" check "calibrate fit -o x.yaml" "import megatron --file"; do
  code=4
  [[ $words != "show model" ]] || code=2  # a model that a scenario names
  for file in /dev/zero ./nobody; do
    # shellcheck disable=SC2086  # several words
    expect "$words of $file" $code timeout 20 "$program" $words $file
    has "$words of $file" "cannot read '$file': it is a " err
  done
  # shellcheck disable=SC2086
  expect "$words of a huge file" 2 timeout 20 "$program" $words ./huge
done
{ echo -n "model: " && head -c 100000 /dev/zero | tr '\0' '['; } >deep.yaml
for words in "show model" run "import axolotl"; do
  # shellcheck disable=SC2086
  expect "$words of a deep file" 2 "$program" $words deep.yaml
  has "$words of a deep file" "more than 64 brackets are open here" err
done

# No place for temporary files.
expect "no folder for temporary files" 4 env TMPDIR="$folder/none" "$program" import train.sh
has "no folder for temporary files" "TMPDIR='$folder/none'" err

# What is proposed can be pasted.
# shellcheck disable=SC2016  # as it is
odd='o "q" $(x).yaml'
expect "an odd name" 0 "$program" import train.sh -o "$odd"
has "an odd name" "stepsim run '$odd'"
expect "a name of two lines" 0 "$program" import train.sh -o $'two\nlines.yaml'
has "a name of two lines" "'two\\x0alines.yaml': written"

# A signal ends an import, and leaves nothing.
echo 'while :; do :; done' >loop.sh
for signal in INT TERM HUP; do
  set -m
  "$program" import loop.sh >out 2>err </dev/null &
  set +m
  job=$! code=0
  begun $job
  kill -$signal $job
  wait $job || code=$?
  ((code == 128 + $(kill -l $signal))) || fail "SIG$signal: exits with $code"
done
[[ -z $(ls tmp) ]] || fail "an import leaves $(ls tmp)"
