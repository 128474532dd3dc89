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

# What several ranks need.
command -v mpirun >/dev/null || exit 0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
two=(mpirun --oversubscribe --bind-to none -n 2)
expect "two ranks" 0 "${two[@]}" "$program" --list
grep -q '^overlap timed=gemm beside=all_reduce .* gpus=2$' out || fail "two ranks send nothing"
expect "a file of one rank" 2 "${two[@]}" "$program" --only file_read --folder . -o my.json
grep -q "my.json was measured with 1 ranks, these are 2" err || fail "it does not say whose file it is"
cmp my.json before.json || fail "the file changed"
echo '{"schema": 1}' >broken.json
expect "a damaged file" 2 "${two[@]}" "$program" --only file_read --folder . -o broken.json
grep -q "broken.json:1:" err || fail "the place of the mistake is lost"

expect "more ranks than cores" 2 \
  "$stepsim" calibrate cpu -o other/calib/gpus/mine.yaml --ranks $(($(nproc) + 1))
grep -q "a rank is a core, and this machine has $(nproc)" err || fail "it does not say how many"
[[ ! -e other ]] || fail "it made folders"
(($(nproc) > 1)) || exit 0

rm -r calib scenarios
mkdir -p calib/gpus
cp my.json calib/gpus/mine.json
expect "calibration on a file of one rank" 2 \
  "$stepsim" calibrate cpu -o calib/gpus/mine.yaml --ranks 2 --budget 2s
grep -q "was measured with 1 ranks, these are 2" err || fail "the reason is lost"
grep -q "what it said stands above" err || fail "it does not say where the reason is"
rm calib/gpus/mine.json

# Each call goes on where the last one ended, until there is enough for a profile.
for try in 1 2 3 4 5 6 7 8 9 10; do
  code=0
  "$stepsim" calibrate cpu -o calib/gpus/mine.yaml --ranks 2 --budget 4s >out 2>err || code=$?
  ((code == 0)) && break
  ((code == 2)) && grep -q "too little was measured" err || fail "calibration exits with $code"
done
((code == 0)) || fail "forty seconds are too few"
cp out said
"${two[@]}" "$program" --list >all
if (($(grep -c '"kind"' calib/gpus/mine.json) < $(wc -l <all))); then
  grep -q "before all points were measured" said || fail "points are missing, and nobody says so"
else
  ! grep -q "before all points were measured" said || fail "no point is missing"
fi
for file in calib/gpus/mine.yaml scenarios/clusters/mine.yaml scenarios/mine.yaml; do
  grep -q "$file: written" said || fail "$file is not named"
done
expect "a run on what was measured" 0 "$stepsim" run scenarios/mine.yaml
