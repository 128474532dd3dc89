#!/bin/bash
# Checks that a standard stream that is closed never becomes a file that the program writes: what each command writes
# has the same bytes as with open streams, and results that go nowhere are an error.
# Usage: closed_streams.sh PROGRAM
set -euo pipefail
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
command=()
# shellcheck source=tests/cli/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

cat >small.yaml <<'EOF'
model: mpt-125m
cluster: dgx-a100-80
training: {sequence_length: 2048, attention: flash1, global_batch: 64}
EOF
cat >ds.json <<<'{"train_batch_size": 64, "bf16": {"enabled": true}}'

# written CASE CODE FILES ARGUMENT...: FILES (in quotes) have the same bytes whichever stream is closed. With standard
# output closed the command exits with CODE: 4 where a result is lost.
written() {
  local name=$1 code=$2 files=$3 stream wanted got
  shift 3
  echo "$name" >&2
  # shellcheck disable=SC2086  # several files
  rm -rf $files kept && mkdir kept
  expect "$name" 0 "$program" "$@"
  # shellcheck disable=SC2086
  cp $files kept/
  for stream in 0 1 2; do
    # shellcheck disable=SC2086
    rm -f $files
    wanted=0 got=0
    ((stream != 1)) || wanted=$code
    case $stream in
      0) "$program" "$@" >out 2>err <&- || got=$? ;;
      1) "$program" "$@" 2>err </dev/null >&- || got=$? ;;
      2) "$program" "$@" >out </dev/null 2>&- || got=$? ;;
    esac
    ((got == wanted)) || fail "$name, descriptor $stream closed: exits with $got instead of $wanted"
    for file in $files; do same_content "$file" "kept/$file" "$name, descriptor $stream closed"; done
  done
}
# ask FILE STATEMENT: what SQLite answers.
ask() { python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall())' "$@"; }
# same_content FILE WANTED CASE: has the same bytes; a file of sweeps, the same points, as it also keeps times of day.
same_content() {
  if [[ $1 != *.db ]]; then
    cmp "$1" "$2" || fail "$3: $1 differs"
    return
  fi
  ask "$1" "$points" >points && ask "$2" "$points" >wanted_points || fail "$3: $1 cannot be read"
  cmp points wanted_points || fail "$3: $1 has other points"
}
points="SELECT point, state, step_time_s FROM points ORDER BY point"

vary=(--vary training.micro_batch=1,2)
written "a trace" 4 step.json run small.yaml --trace step.json
written "a compressed trace" 4 step.json.gz run small.yaml --trace step.json.gz
written "a page of an explanation" 4 explain.html explain small.yaml --html explain.html
written "a page of a comparison" 4 compare.html compare small.yaml --vs training.micro_batch=2 --html compare.html
written "a sweep" 4 small.db sweep small.yaml "${vary[@]}" --db small.db
mkdir results && "$program" run small.yaml --format json >results/one.json
written "an index" 4 index.html report results --html index.html
written "a page" 4 run.html run small.yaml --html run.html
written "a page of a sweep" 4 "small.db sweep.html" sweep small.yaml "${vary[@]}" --db small.db --html sweep.html
expect "a part" 0 "$program" sweep small.yaml "${vary[@]}" --db part.db --shard 1/2
written "a merge" 4 all.db merge all.db part.db
written "a search" 4 "best.yaml search.html" search small.yaml -o best.yaml --html search.html
cat >megatron.yaml <<'EOF'
framework: megatron
model: gpt2
cluster: {base: dgx-h100, nodes: 1}
training: {sequence_length: 1024, global_batch: 64, attention: flash3}
EOF
written "an export" 4 launch.sh export megatron megatron.yaml -o launch.sh
written "an import" 4 imported.yaml import ds.json -o imported.yaml
mkdir -p calib/gpus calib/links
written "a fit" 4 "mine.yaml link.yaml" calibrate fit "$root"/calib/examples/h100-{gemm,attention,collectives}.csv \
  -o mine.yaml --link link.yaml --force
suite=$root/validate/suites/ddp_buckets.yaml
written "a record and a page of a suite" 4 "record.yaml suite.html" validate "$suite" --record record.yaml --html suite.html

# Ctrl-C finds no descriptor to write into either. A job of a shell without job control would ignore it.
set -m
"$program" sweep small.yaml --vary parallelism.data.bucket=1..4000MiB --db cut.db --jobs 1 >out 2>&- </dev/null &
set +m
begun $!
sleep 0.5
kill -INT $!
got=0
wait $! || got=$?
((got == 3)) || fail "a sweep that Ctrl-C ends: exits with $got instead of 3"
ask cut.db "PRAGMA integrity_check" >checked
has "a sweep that Ctrl-C ends" "[('ok',)]" checked
