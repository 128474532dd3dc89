#!/bin/bash
# Checks `stepsim compare` from outside: what may be compared, exit codes, and that jobs change
# nothing. Usage: compare.sh PROGRAM
set -euo pipefail
command=(compare)
# shellcheck source=tests/cli/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

# refuses CASE WORDS [ARGUMENT...]: exits with 2, says that on stderr and nothing on stdout.
refuses() {
  expect "$1" 2 "${@:3}"
  has "$1" "$2" err
  [[ ! -s out ]] || fail "$1: something is on stdout"
}

cat >a.yaml <<'END'
model: mpt-125m
cluster: dgx-a100-80
training: {sequence_length: 2048, attention: flash1, global_batch: 8}
END
sed 's/global_batch: 8/global_batch: 8, micro_batch: 1, recompute: full/' a.yaml >b.yaml
"$program" run a.yaml --format json >a.json
"$program" run b.yaml --format json >b.json

expect "two scenarios" 0 a.yaml b.yaml
has "two scenarios" "B is"
has "two scenarios" "slower"
has "two scenarios" "training.recompute.kind"
has "two scenarios" "Where the difference comes from"
(($(wc -L <out) <= 80)) || fail "the table is wider than 80 columns"
[[ ! -s err ]] || fail "something is said where nothing is to be said"
cp out scenarios

# A result holds its scenario, and is compared as that would be.
for pair in "a.yaml b.json" "a.json b.yaml" "a.json b.json"; do
  read -ra files <<<"$pair"
  expect "$pair" 0 "${files[@]}"
  diff <(sed '/^[AB] /d' scenarios) <(sed '/^[AB] /d' out) || fail "$pair differ from the scenarios"
done
# Not so those of earlier versions, of which hashes alone are known.
python3 - <<'EOF'
import json
result = json.load(open("b.json"))
del result["provenance"]["scenario"]
json.dump(result, open("old.json", "w"))
EOF
expect "an old result" 0 a.yaml old.json
has "an old result" "does not hold its scenario"
has "an old result" "hash of scenario"
diff <(sed -n '/^Where/,$p' scenarios) <(sed -n '/^Where/,$p' out) || fail "an old result differs"
expect "a scenario and its own result" 0 a.yaml a.json
has "a scenario and its own result" "B takes as long as A"
has "a scenario and its own result" "no input differs"

expect "a pipe" 0 <(cat a.yaml) <(cat b.json)
has "a pipe" "slower"

expect "changes" 0 a.yaml --vs training.recompute=full --vs training.precision=bf16 host.mode=graph
has "changes" "A with training.recompute=full"
has "changes" "A with training.precision=bf16, host.mode=graph"
has "changes" "C - A"
expect "JSON" 0 a.yaml b.yaml --vs host.mode=graph --format json
has "JSON" '"schema": "stepsim.comparison/1"'
has "JSON" '"changes": ['
cp out whole
for jobs in 1 2 3; do
  expect "$jobs jobs" 0 a.yaml b.yaml --vs host.mode=graph --format json --jobs $jobs
  cmp out whole || fail "$jobs jobs give another comparison"
done
expect "a change of all" 0 a.yaml b.yaml --set training.recompute=none
has "a change of all" "B takes as long as A"

jitter='faults.jitter={kernels: {distribution: normal, sigma: 5 %, per: step}}'
expect "replicas" 0 a.yaml --vs run.seed=2 --set run.replicas=8 --set "$jitter"
has "replicas" "replicas can show"
has "replicas" "Mean of replicas"
expect "replicas" 0 a.yaml --vs training.recompute=full --set run.replicas=8 --set "$jitter"
has "replicas" "significant (p"

for format in csv markdown; do
  expect "$format" 0 a.yaml b.yaml --format $format
  has "$format" "training.recompute.kind"
done

# A baseline is a result; a scenario that is worse than it by more than the tolerance fails.
expect "the baseline itself" 0 a.yaml --baseline a.json --tolerance 0%
has "the baseline itself" "within the tolerance of 0.0 %"
[[ ! -s err ]] || fail "something is said where nothing is to be said"
expect "a slower one" 1 b.yaml --baseline a.json --tolerance 2%
has "a slower one" "worse than the tolerance of 2.0 %: the step takes"
has "a slower one" "Where the difference comes from"
expect "within" 0 b.yaml --baseline a.json --tolerance '90 %'
has "within" "within the tolerance of 90.0 %"
expect "a faster one" 0 b.yaml --set training.attention=flash2 --baseline b.json --tolerance 2% --format json
has "a faster one" '"improved": true'
has "a faster one" "stepsim run b.yaml --set training.attention=flash2 --format json > b.json" err
expect "a result" 1 b.json --baseline a.json --tolerance 1%
"$program" run b.yaml --set training.attention=flash2 --format json >faster.json
expect "a result that is faster" 0 faster.json --baseline b.json --tolerance 1%
has "a result that is faster" "cp faster.json b.json" err

for tolerance in 2 2s -2% x '' nan% 1e999%; do
  refuses "a tolerance of '$tolerance'" "tolerance" a.yaml --baseline b.json --tolerance "$tolerance"
done
refuses "a share" 'has no unit: write "2 %", or "0.02 %" if so little is meant' a.yaml --baseline b.json --tolerance 0.02
refuses "no unit" 'has no unit: write "2 %"' a.yaml --baseline b.json --tolerance 2

# A baseline of something else is a wrong file; one of another name may be, and is not to be renewed.
sed 's/mpt-125m/mpt-350m/' a.yaml >other_model.yaml
refuses "another model" "a.json is no baseline of other_model.yaml: it is of model 'mpt-125m', not 'mpt-350m'" \
  other_model.yaml --baseline a.json --tolerance 2%
refuses "another cluster" "it is of cluster 'dgx-a100-80', not 'dgx-a100-40'" \
  a.yaml --set cluster=dgx-a100-40 --baseline a.json --tolerance 2%
sed 's/flash1/flash2/' b.yaml >renamed.yaml
expect "another name" 0 renamed.yaml --baseline b.json --tolerance 2% --format json
has "another name" '"improved": true'
has "another name" "warning: the baseline b.json is of a scenario named 'b', this is 'renamed'" err
lacks "another name" "> b.json" err
expect "the usual tolerance" 0 a.yaml --baseline a.json
has "the usual tolerance" "2"
refuses "no baseline" "--tolerance is for --baseline" a.yaml b.yaml --tolerance 2%
refuses "a baseline for two" "for one file" a.yaml b.yaml --baseline a.json --tolerance 2%
refuses "a variant of a baseline" "has no --vs" a.yaml --vs host.mode=graph --baseline a.json --tolerance 2%
refuses "a scenario as baseline" "this is no JSON" a.yaml --baseline b.yaml --tolerance 2%
expect "no such baseline" 4 a.yaml --baseline missing.json --tolerance 2%

refuses "one alone" "nothing to compare" a.yaml
refuses "the same twice" "is there twice, and they are the same" a.yaml ./a.yaml
refuses "no change" "is not an override" a.yaml --vs host.mode
refuses "a key that is none" "--vs host.mod=graph: unknown key 'mod' in 'host', did you mean 'mode'?" a.yaml --vs host.mod=graph
refuses "a value that is none" "--vs training.micro_batch=abc" a.yaml --vs training.micro_batch=abc
lacks "a value that is none" "--set" err
refuses "a change that does not fit" "with --vs run.seed=3 training.micro_batch=3: " \
  a.yaml --vs host.mode=graph --vs run.seed=3 training.micro_batch=3
lacks "a change that does not fit" "host.mode" err
cp b.yaml 'b`id`.yaml' && "$program" run 'b`id`.yaml' --format json >'b`id`.json'
expect "a name for a shell" 0 'b`id`.yaml' --set training.attention=flash2 --baseline 'b`id`.json' --tolerance 2%
has "a name for a shell" "stepsim run 'b\`id\`.yaml' --set training.attention=flash2 --format json > 'b\`id\`.json'" err
refuses "a change of a result" "is a result, not a scenario" a.json --vs host.mode=graph
refuses "--set for results" "there are only results" a.json b.json --set host.mode=graph
echo '{"schema": "stepsim.explanation/1"}' >other.json
echo '{"layers": 4}' >config.json
refuses "another JSON" "other.json:1:1: this is a 'stepsim.explanation/1', not a result" a.yaml other.json
refuses "no result" "it has no 'schema'" a.yaml config.json
refuses "another format" "unknown 'xml'" a.yaml b.yaml --format xml
refuses "many" "takes 26" a.yaml $(for i in {1..26}; do echo --vs "run.seed=$i"; done)
# Everything that is wrong is said at once.
sed 's/model:/modell:/' a.yaml >typo.yaml
refuses "several mistakes" "other.json:1:1" typo.yaml other.json missing.yaml
has "several mistakes" "typo.yaml:1:1" err
has "several mistakes" "missing.yaml" err
expect "missing files" 4 missing.yaml a.yaml missing.json
has "missing files" "missing.yaml" err
has "missing files" "missing.json" err
