#!/bin/bash
# Checks `stepsim search` from outside: what it refuses, what it writes, what it says of memory and
# of failures, and Ctrl-C. Usage: search.sh PROGRAM
set -euo pipefail
command=(search)
# shellcheck source=tests/cli/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"
# Words may go on over several lines.
has() { tr -s ' \n' ' ' <"${3:-out}" | grep -F -- "$2" >/dev/null || fail "$1: there is no '$2'"; }
lacks() { ! tr -s ' \n' ' ' <"${3:-out}" | grep -F -- "$2" >/dev/null || fail "$1: there is '$2'"; }

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
has "the file that was read" "-o './a.yaml' would replace a file that is read" err
cmp a.yaml before.yaml || fail "the scenario was replaced"
expect "a folder that is not there" 4 a.yaml -o none/best.yaml
[[ ! -s out ]] || fail "it searched before it looked at the file to write"

few=(--only context=1 --only schedule=1f1b --only tensor=1,2 --only bucket=100MiB)
expect "no budget" 1 a.yaml "${few[@]}" --budget 1ns
has "no budget" "Nothing found no strategy has been simulated yet"
has "no budget" "Not proven the time is over (--budget allows more)"

expect "a page of nothing" 1 a.yaml "${few[@]}" --budget 1ns --html nothing.html
has "a page of nothing" "page in nothing.html: open it in a browser" err

expect "one simulation" 0 a.yaml "${few[@]}" --only micro_batch=1,2 --simulations 1
has "one simulation" ", 1 were simulated"
has "one simulation" "as many were simulated as may be"
# What is wrong is said in the words that were written, before anything is searched.
refused() { expect "$2" 2 a.yaml "${@:3}"; has "$2" "$1" err; }
refused "--only tensor=2: --only tensor=1 restricts 'tensor' already, give all its values at once: --only tensor=1,2" \
  "an axis twice" --only tensor=1 --only tensor=2
refused "--gpus 64..32: '64..32' ends before it begins" "a range backwards" --gpus 64..32
refused "--gpus 32..: '32..' has no number in ''" "half a range" --gpus 32..
refused "--gpus 8..1e30: more than 1,000,000 GPUs are not simulated" "many GPUs" --gpus 8..1e30
refused "--tokens 1e300: a number of tokens between 1 and 1e+18 is wanted" "many tokens" --tokens 1e300
refused "--budget: '500' has no unit of time, write \"500 s\"" "a time without a unit" --budget 500
refused "--deadline: '-5d' is not above 0" "a time below 0" --tokens 1e9 --deadline -5d
refused "--strategy-timeout: '5 parsec'" "no unit of time" --strategy-timeout "5 parsec"
refused "-o and --html are the same file, 'one.html'" "two outputs in one file" --gpus 8,16 \
  --html one.html -o ./one.html
refused "is left: 8 samples do not divide among 24 GPUs; try without one of them" "an odd size" \
  --gpus 24 --only tensor=1 --only pipeline=1 --only context=1
expect "a file that cannot be made" 4 a.yaml -o /proc/best.yaml
[[ ! -s out ]] || fail "it searched before it looked at the file to write"
expect "a size without a unit" 2 a.yaml --only bucket=100
has "a size without a unit" "--only bucket=100: '100' is not a size, as in 100MiB" err
expect "no time at all" 2 a.yaml --budget 0s
has "no time at all" "'0s' is not above 0" err

# A deadline: the fewest GPUs in time, the cheapest ones, none, and with failures in between.
cat >train.yaml <<'END'
model: mpt-125m
cluster: dgx-a100-80
training: {sequence_length: 2048, attention: flash1, global_batch: 256}
cost: {price: 2.00 $/gpu/h}
END
plain=(--only context=1 --only tensor=1 --only pipeline=1 --only bucket=100MiB)
training=(train.yaml --gpus 8..32 "${plain[@]}" --tokens 1e12)
of_sizes() { python3 -c "import json; d = json.load(open('out')); print(($1))"; }
expect "no deadline" 0 "${training[@]}" --format json
# The middle size is in time, the smallest one is not.
hours=$(of_sizes "1.01 * d['sizes'][1]['training_s'] / 3600")
expect "a deadline" 0 "${training[@]}" --deadline "$hours h" --format json
[[ $(of_sizes "d['best_gpus'], [s['in_time'] for s in d['sizes']]") == "(16, [False, True, True])" ]] ||
  fail "a deadline: the best is not the smallest in time"
expect "the cheapest in time" 0 "${training[@]}" --deadline "$hours h" --objective cost --format json
[[ $(of_sizes "d['best_gpus'] == min((s for s in d['sizes'] if s['in_time']),
                                     key=lambda s: s['dollars'])['gpus']") == True ]] ||
  fail "the cheapest in time is not the best"
expect "a deadline in words" 0 "${training[@]}" --deadline "$hours h"
has "a deadline in words" "Deadline 16 GPUs are the fewest of these that are done within"
has "a deadline in words" "; 8 GPUs take "
has "a deadline in words" "Best 16 GPUs, the fewest of those in time"
(($(grep -c ' ✓ ' out) == 2 && $(grep -c ' ✗ ' out) == 1)) || fail "not every size has its mark"
expect "no size in time" 1 "${training[@]}" --deadline 2d -o late.yaml
has "no size in time" "none of these is done within 2.00 days: 32 GPUs, the largest, take"
has "no size in time" "too long; without checkpoints and failures"
lacks "no size in time" "Best"
[[ ! -e late.yaml ]] || fail "a size that is too late was written"
expect "one size, too late" 1 train.yaml "${plain[@]}" --tokens 1e12 --deadline 1h
has "one size, too late" "Deadline too late:"
expect "one size, in time" 0 train.yaml "${plain[@]}" --tokens 1e9 --deadline 30d
has "one size, in time" "before the deadline of 30.0 days"

# In time without failures, too late with them.
cat >>train.yaml <<'END'
checkpoint: {every: 500, storage: {bandwidth: 2 GB/s}}
reliability: {gpu_mtbf: 200 h, detection: 1 min, restart: 1 h}
run: {horizon: 1 day}
END
expect "failures" 0 "${training[@]}" --deadline "$hours h" --format json
[[ $(of_sizes "d['best_gpus'], d['sizes'][1]['in_time'], d['sizes'][1]['goodput'] < 0.95") == \
   "(32, False, True)" ]] || fail "failures do not count"

# Failures count where no checkpoint is stated, too.
sed '/^checkpoint/d' train.yaml >fails.yaml
expect "failures alone" 0 fails.yaml --gpus 8..32 "${plain[@]}" --tokens 2e10 --deadline 30d --format json
[[ $(of_sizes "all(s['goodput'] < 1 for s in d['sizes'])") == True ]] || fail "failures alone do not count"

# A training that cannot be followed to its end takes nothing away.
expect "too long a training" 3 "${training[@]:0:${#training[@]}-1}" 1e17
has "too long a training" "Training not known: run.horizon: to get there takes more than"
has "too long a training" "tensor 1 x pipeline 1 x data 32, micro-batch 8, no recompute"

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
  --only sharding=ddp --only bucket=100MiB --simulations 4 --strategy-timeout "0.001 s" \
  >out 2>err </dev/null || code=$?
((code <= 1)) || fail "no time: exits with $code"
has "no time" " failed"
has "no time" ": longer than 0.001 s"
has "no time" "failed could be faster by their bounds"

# The time is for bounds too: this space takes seconds. Simulations under way in the end are given up.
code=0
times >before
"$program" search long.yaml --budget "0.5 s" --jobs 2 >out 2>err </dev/null || code=$?
times >after
((code <= 1)) || fail "time for bounds: exits with $code"  # a busy machine may simulate nothing
has "time for bounds" "Not proven the time is over (--budget allows more); not every strategy was looked at"
# The last line is of ended children: 0m1.234s of the user and of the system. Others may use the cores, too.
awk 'FNR == 2 { for (i = 1; i <= 2; ++i) { split($i, t, "m"); used[FILENAME] += 60 * t[1] + t[2] } }
     END { exit used["after"] - used["before"] < 15 ? 0 : 1 }' before after ||
  fail "time for bounds: half a second takes more than 15 of the cores"

# interrupted AFTER [ARGUMENT...]: prints what is known.
interrupted() {
  "$program" search "${@:2}" >out 2>err </dev/null &
  local search=$! code=0
  begun "$search"
  sleep "$1"
  kill -TERM "$search"
  wait "$search" || code=$?
  ((code != 0)) || return 0  # a fast machine may be done before
  ((code == 3)) || fail "interrupted after $1 s: exits with $code"
  if grep -q "before the first simulation" err; then return 0; fi  # a busy machine has begun nothing
  has "interrupted after $1 s" "Searched"
  has "interrupted after $1 s" "nterrupted"
}
# Before the first of many sizes.
code=0
"$program" search long.yaml --gpus 8..800000+8 --only tensor=1 >out 2>err </dev/null &
search=$!
begun "$search"
sleep 0.5
kill -TERM "$search"
wait "$search" || code=$?
((code == 3)) || fail "interrupted before the first size: exits with $code"
# A search of several sizes spends most of the time in the middle of their trainings: a second and a
# half each.
sed -i 's/every: 500/every: 5/; s/200 h/10 h/; s/restart: 1 h/restart: 1 min/' train.yaml
for after in 0.5 1 2; do
  interrupted "$after" train.yaml --gpus 8..128 "${plain[@]}" --only micro_batch=8 --tokens 1e13
  [[ -s out ]] || continue
  has "sizes, interrupted after $after s" "GPUs step MFU scaling memory"
  has "sizes, interrupted after $after s" "128 GPUs: interrupted"
done

# Ctrl-C while it simulates the scenario itself, bounds, or simulates. Jobs in the background of a
# shell ignore SIGINT; SIGTERM is noted in the same way.
for after in 0.3 1; do interrupted "$after" long.yaml; done
