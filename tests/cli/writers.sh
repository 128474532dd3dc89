#!/bin/bash
# Checks everything that the program writes, as --help of each command lists it: results in every --format on standard
# output, and every OUTFILE. Nothing is lost: not a file that is read, not one of somebody else, not the one before where
# writing fails or is killed; and what could not be written never exits with 0.
# Usage: writers.sh PROGRAM LIBRARY results|outputs. The library ends programs that write: kill_in_write.cpp
set -euo pipefail
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
killer=$(realpath "$2") part=$3
command=()
# shellcheck source=tests/cli/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

# What the commands read.
cat >small.yaml <<'END'
model: mpt-125m
cluster: dgx-a100-80
training: {sequence_length: 2048, attention: flash1, global_batch: 64}
run: {steps: 1, warmup: 1}
END
cat >megatron.yaml <<'END'
framework: megatron
model: gpt2
cluster: {base: dgx-h100, nodes: 1}
training: {sequence_length: 1024, global_batch: 64, attention: flash3}
END
sed 's/framework: megatron/framework: deepspeed/' megatron.yaml >deepspeed.yaml
cat >ds.json <<<'{"train_batch_size": 64, "bf16": {"enabled": true}}'
# block PAGE NAME: the block of that name in a page of the documentation.
block() { awk -v name="$2" '/^```/ { inside = !inside && $2 == name; next } inside' "$root/docs/$1"; }
# shellcheck disable=SC2094  # the page and the file have one name for it
block calibration.md two-nodes.log >two-nodes.log
head -n 60 "$root/calib/examples/h100-gemm.csv" >gemm.csv
block recordings.md rank0.pt.trace.json >rank0.json
cat >suite.yaml <<'END'
suite: one
title: One row
source: this test
assumptions: [none]
scenario:
  model: mpt-125m
  cluster: dgx-a100-80
  training: {sequence_length: 2048, attention: flash1}
table: rows.csv
map: {training.global_batch: batch}
measured: time_ms ms
label: batch
END
printf 'batch,time_ms\n8,20\n' >rows.csv
printf 'batch,time_ms\n8,20\n16,40\n' >two-rows.csv
"$program" sweep small.yaml --vary training.micro_batch=1 --db part.db >out
"$program" sweep small.yaml --vary training.micro_batch=2 --db older.db >out
mkdir results && "$program" run small.yaml --format json >results/one.json

# words_of COMMAND: sets `words`, a short case of it without its outputs, and `read`, a file that it reads. Commands
# that share their writer with the one before them have no case of their own: 1. 2: nobody knows the command.
words_of() {
  read=small.yaml
  case $1 in
    run | explain | check) words=(small.yaml) ;;
    compare) words=(small.yaml --vs training.micro_batch=2) ;;
    search) words=(small.yaml --gpus "8,16" --only tensor=1 --only pipeline=1 --simulations 1) ;;
    show) words=(model small.yaml) ;;
    keys) words=(training.recompute) ;;
    schema) words=(gpu) ;;
    list) words=(models) ;;
    new) words=(finetune-fsdp2) read='' ;;
    import) words=(ds.json) read=ds.json ;;
    export\ megatron) words=(megatron.yaml) read=megatron.yaml ;;
    export\ deepspeed) words=(deepspeed.yaml) read=deepspeed.yaml ;;
    calibrate\ fit) words=(two-nodes.log --base-cluster dgx-h100) read=two-nodes.log ;;
    calibrate\ probe) words=(--root "$root/calib/examples/workstation") read='' ;;
    calibrate\ steps) words=(suite.yaml --table two-rows.csv) read=two-rows.csv ;;
    calibrate\ trace) words=(rank0.json --scenario "$root/scenarios/cpu-loss-8xh100.yaml") read=rank0.json ;;
    validate) words=(suite.yaml) read=rows.csv ;;
    sweep) words=(small.yaml --vary training.micro_batch=1 --restart) ;;
    merge) words=(part.db) ;;
    report) words=(results) read=results/one.json ;;
    import\ * | export | export\ * | calibrate) return 1 ;;
    calibrate\ cpu) return 1 ;;  # measures: measure_cpu.sh
    *) return 2 ;;
  esac
}

# subcommands_of HELP...
subcommands_of() { awk '/^Subcommands:/ { inside = 1; next } inside && /^  [a-z]/ { print $1; next } /^$/ { inside = 0 }'; }
# commands_of [COMMAND...]: all that --help lists below it, a line each.
commands_of() {
  local name
  "$program" "$@" --help | subcommands_of | while read -r name; do
    echo "$* $name" | sed 's/^ //'
    # shellcheck disable=SC2086
    commands_of "$@" "$name"
  done
}

# outputs_of COMMAND: the first name of every OUTFILE.
outputs_of() {
  # shellcheck disable=SC2086
  "$program" $1 --help | sed -nE 's/^  (-[a-z]|--[a-z]+|OUT)(,--[a-z]+)? OUTFILE.*/\1/p'
}
# formats_of COMMAND: the words of --format, or a line of nothing.
formats_of() {
  # shellcheck disable=SC2086
  "$program" $1 --help | sed -nE 's/^  --format TEXT:\{([a-z,]*)\}.*/\1/p' | tr , '\n' | grep . || echo
}
# taken COMMAND OUTPUT: sets `option`, the words that ask for the output, and `file`, where it stands then.
taken() {
  option=("$2" "mine") file=mine
  case "$1 $2" in
    run\ --trace) file=step.json ;;
    merge\ OUT) file=all.db option=(all.db) && return ;;
    sweep\ --db) file=own.db ;;
    calibrate\ trace\ -o) file=learnt/calib/gpus/h100-recorded.yaml option=(-o learnt) && return ;;
    calibrate\ fit\ --link) words=("$root/calib/examples/h100-collectives.csv") read='' file=mine.yaml ;;
    calibrate\ fit\ -o) words=(gemm.csv) read=gemm.csv file=mine.yaml ;;
    calibrate\ fit\ *) file=mine.yaml ;;
    sweep\ --html) option=("$2" "mine" --db own.db) && return ;;
  esac
  option=("$2" "$file")
}
# ended CODES CASE: the last command has exited with one of these.
ended() { [[ " $1 " == *" $code "* ]] || fail "$2: exits with $code instead of $1"; }
# kept CASE: the file is as it was, and no other is beside it.
kept() {
  content "$file" | cmp -s - before || fail "$1: $file has changed"
}
# content FILE: of a file of sweeps what is in it, as SQLite may leave it in other pages.
content() {
  if [[ $1 == *.db && $(head -c 6 "$1") == SQLite ]]; then
    python3 -c 'import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).iterdump(), sep="\n")' "$1"
  else
    cat "$1"
  fi
}
# write_it: calls the command with its output; `code` is how it ends. Nothing is written where it stands but the output.
write_it() {
  code=0
  # shellcheck disable=SC2086
  "$@" "$program" $name "${option[@]}" "${words[@]}" </dev/null >"$folder/out" 2>"$folder/err" || code=$?
}
in_no_room() { (ulimit -f 0; "$@" >/dev/null 2>&1); }
killed() { STEPSIM_KILLED_FILE=$folder/$file LD_PRELOAD=$killer "$@"; }

# check_output: that of `option` and `file` of the command `name`.
check_output() {
  local title="$name $1"
  rm -rf "$file" learnt
  write_it
  ended 0 "$title"
  [[ -s $file ]] || fail "$title: there is no $file"
  content "$file" >before
  write_it
  ended 0 "$title, again"
  kept "$title, again"

  # What is merged already is not written again.
  [[ $name != merge ]] || { cp older.db "$file" && content "$file" >before; }
  write_it in_no_room
  ended 4 "$title, without room"
  kept "$title, without room"
  [[ $(find . -name '*.tmp') == "" ]] || fail "$title, without room: a temporary file is left"
  write_it killed
  ended 137 "$title, killed"
  kept "$title, killed"
  find . -name '*.tmp' -delete
  write_it
  ended 0 "$title, after a kill"

  content "$file" >before
  chmod a-w "$file"
  write_it
  ended "0 4" "$title, read-only"  # 0: a sweep that is whole is printed
  kept "$title, read-only"
  rm "$file"

  echo "somebody else's" | tee "$file" >before
  write_it
  ended 2 "$title, somebody else's"
  kept "$title, somebody else's"
  # shellcheck disable=SC2086
  if "$program" $name --help | grep -q '^  --force'; then
    # A record is read before it is written, and results are no files that --force replaces.
    [[ $1 == --db || $1 == --record ]] || { write_it_by_force && ended 0 "$title --force"; }
  fi
  if [[ -n $read && $name != merge ]]; then
    rm -f "$file"
    ln "$read" "$file"
    cat "$read" >before
    write_it_by_force
    ended 2 "$title, a link to what is read"
    kept "$title, a link to what is read"
    rm "$file"
  fi
  if [[ $file != */* && $file != *.yaml ]]; then
    rm -f "$file"
    ln -s /dev/full "$file"
    write_it
    ended "2 4" "$title, a full device"
    rm "$file"
  fi
}
write_it_by_force() {
  local kept_words=("${words[@]}")
  # shellcheck disable=SC2086
  ! "$program" $name --help | grep -q '^  --force' || words+=(--force)
  write_it
  words=("${kept_words[@]}")
}

# check_result FORMAT: what the command prints, where nobody takes it.
check_result() {
  local title="$name $1" all=("${words[@]}")
  [[ -z $1 ]] || all+=(--format "$1")
  case $name in merge) all=(all.db "${all[@]}") ;; calibrate\ trace) all+=(-o learnt) ;;
    calibrate\ fit) all+=(--fabric mine.yaml) ;; sweep) all+=(--db own.db) ;; esac
  # shellcheck disable=SC2086
  { code=0 && "$program" $name "${all[@]}" </dev/null 2>err >&- || code=$?; } 
  ended 4 "$title, closed"
  # shellcheck disable=SC2086
  { code=0 && "$program" $name "${all[@]}" </dev/null 2>err >/dev/full || code=$?; }
  ended 4 "$title, on a full device"
  # shellcheck disable=SC2086
  { code=0 && (ulimit -f 0; "$program" $name "${all[@]}" </dev/null 2>/dev/null >out) || code=$?; }
  ended 4 "$title, without room"
}

commands=$(commands_of)
: >outputs
for name in "" $(tr ' ' '_' <<<"$commands"); do
  name=${name//_/ }
  if [[ $part == results ]]; then
    code=0
    # shellcheck disable=SC2086
    "$program" $name --help >/dev/full 2>err || code=$?
    ended 4 "$name --help"
  fi
  [[ -n $name ]] || continue
  known=0 words=() read=
  words_of "$name" || known=$?
  ((known < 2)) || fail "$name: no case is known of it"
  ((known == 0)) || continue
  echo "$name" >&2
  for output in $(outputs_of "$name"); do
    echo "$name $output" >>outputs
    [[ $part == outputs ]] || continue
    words_of "$name"
    taken "$name" "$output"
    check_output "$output"
  done
  [[ $part == results ]] || continue
  words_of "$name"
  for format in $(formats_of "$name" | sed 's/^$/-/'); do check_result "${format#-}"; done
done
# What --help no longer lists would not be looked at.
(($(wc -l <outputs) >= 14)) || fail "only $(wc -l <outputs) outputs are listed"
