#!/bin/bash
# Checks the CPU harness from outside: points, options, a file that is gone on with, and what
# `stepsim calibrate cpu` says without it. Usage: measure_cpu.sh PROGRAM STEPSIM
set -euo pipefail
program=$1 stepsim=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# expect CASE CODE COMMAND...: exits with CODE; what it prints is in out and err.
expect() {
  local code=0
  "${@:3}" >out 2>err </dev/null || code=$?
  ((code == $2)) || { echo "$1: exits with $code instead of $2"; cat err; exit 1; }
}
fail() { echo "$1"; cat out err; exit 1; }

expect "--list" 0 "$program" --list
mv out all
(($(wc -l <all) > 80)) || fail "--list is short"
[[ -z $(sort all | uniq -d) ]] || fail "--list repeats itself"
! grep -qE '^(collective|overlap) ' all || fail "one rank has nobody to send to"

expect "an unknown kind" 2 "$program" --only gem
grep -q "did you mean 'gemm'?" err || fail "no proposal for --only gem"
expect "a GPU's option" 2 "$program" --device 1
expect "help" 0 "$program" --help
grep -q "profile of this CPU" out || fail "--help does not say what is measured"
! grep -q "driver" out || fail "--help speaks of another device"

expect "warm reads" 0 "$program" --only file_read --folder . -o my.json
(($(grep -c '"cache":"warm".*"seconds"' my.json) == 3)) || fail "not three warm reads were measured"
cp my.json before.json
expect "the same again" 0 "$program" --only file_read --folder . -o my.json
grep -q "0 points to measure" err || fail "points are measured again"
cmp my.json before.json || fail "the file changed"
expect "files nowhere" 70 "$program" --only file_read --folder ./nowhere -o other.json

cp "$stepsim" alone
expect "no measuring program beside it" 2 ./alone calibrate cpu -o calib/gpus/mine.yaml
grep -q "libopenblas-dev" err || fail "it does not say what is missing"
[[ ! -e calib ]] || fail "it made folders"
expect "a profile that nobody would find" 2 "$stepsim" calibrate cpu -o mine.yaml
grep -q "calib/gpus/this-machine.yaml" err || fail "it does not say where profiles are"
expect "a budget without a unit" 2 "$stepsim" calibrate cpu -o calib/gpus/mine.yaml --budget 10
mkdir -p calib/gpus scenarios
echo "mine: 1" | tee calib/gpus/mine.yaml scenarios/mine.yaml >/dev/null
expect "files that it did not write" 2 "$stepsim" calibrate cpu -o calib/gpus/mine.yaml
grep -q "calib/gpus/mine.yaml, .*/scenarios/mine.yaml are there already.*--force" err ||
  fail "it does not name the files that it would replace"
[[ $(cat scenarios/mine.yaml) == "mine: 1" && ! -e scenarios/clusters ]] || fail "it wrote something"
