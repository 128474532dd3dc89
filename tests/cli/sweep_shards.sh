#!/bin/bash
# Checks sweeps that several processes share: parts whose files are merged give the same bytes as one
# process, nothing is lost or done twice, and what does not go together is said.
# Usage: sweep_shards.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "$1"; cat out err; exit 1; }
# expect CASE CODE COMMAND...: exits with CODE; what it prints is in out and err.
expect() {
  local code=0
  "${@:3}" >out 2>err </dev/null || code=$?
  ((code == $2)) || fail "$1: exits with $code instead of $2"
}
has() { grep -qF -- "$2" "${3:-out}" || fail "$1: there is no '$2'"; }
same() { cmp -s out "${2:-whole.csv}" || fail "$1: not the bytes of a lone process"; }

cat >small.yaml <<'EOF'
model: mpt-125m
cluster: dgx-a100-80
training: {sequence_length: 2048, attention: flash1, global_batch: 64}
EOF
axes=(--vary parallelism.data.bucket=1..30MiB --vary training.micro_batch=1,2,3)
sweep=("$program" sweep small.yaml "${axes[@]}" --format csv)
expect "one process" 0 "${sweep[@]}" --db whole.db --jobs 1
mv out whole.csv

# Parts, each with a file of its own.
for part in 1 2 3 4; do
  expect "part $part" 0 "$program" sweep small.yaml "${axes[@]}" --shard $part/4 --jobs 2
  [[ -s small.$part-of-4.sweep.db ]] || fail "part $part has no file of its own"
done
has "part 4" "shard 4 of 4: 22 of 90 points: 15 ok, 7 refused"
has "part 4" "stepsim merge"
expect "a part again" 0 "${sweep[@]}" --shard 4/4 --resume
(($(wc -l <out) == 22 + 1)) || fail "the fourth part is not 22 points"

parts=(small.[1-4]-of-4.sweep.db)
expect "three parts" 0 "$program" merge small.sweep.db "${parts[@]:0:3}"
has "three parts" "sweep_1: 68 of 90 points from 3 files"
has "three parts" "simulates what is missing"
expect "the last part" 0 "$program" merge small.sweep.db "${parts[3]}" small.sweep.db
has "the last part" "sweep_1: 90 of 90 points from 2 files"
expect "all parts" 0 "${sweep[@]}" --resume
same "all parts"
expect "all parts, again" 0 "$program" merge small.sweep.db "${parts[@]}" "${parts[0]}"
has "all parts, again" "90 of 90 points"
expect "all parts, after that" 0 "${sweep[@]}" --resume
same "all parts, after that"
expect "some parts" 0 "$program" merge some.db "${parts[@]:1}"
expect "the rest is simulated" 0 "${sweep[@]}" --db some.db --resume
same "the rest is simulated"

# Another part's points are not forgotten.
expect "a part, in a file with another one's" 2 "${sweep[@]}" --shard 4/4 --db "${parts[0]}"
has "a part, in a file with another one's" "--resume goes on, --restart begins anew" err

# What does not go together leaves the result as it was.
cp small.sweep.db before.db
python3 - <<'EOF'
import shutil, sqlite3
for name, change in {"other_step": "UPDATE points SET step_time_s = 1 WHERE point = 4",
                     "other_profiles": "UPDATE sweeps SET inputs = 'others'",
                     "other_version": "UPDATE sweeps SET version = '0.0.1'",
                     "other_schema": "UPDATE format SET schema = 'stepsim.sweep/0'"}.items():
    shutil.copy("small.1-of-4.sweep.db", name + ".db")
    with sqlite3.connect(name + ".db") as database:
        database.execute(change)
EOF
refuses() {  # CASE CODE SENTENCE FILE...
  expect "$1" "$2" "$program" merge small.sweep.db "${@:4}"
  has "$1" "$3" err
  cmp -s small.sweep.db before.db || fail "$1: the result has changed"
}
refuses "parts that disagree" 2 "point 4 of small (parallelism.data.bucket 2 MiB, training.micro_batch 2) is" other_step.db
has "parts that disagree" "'small.sweep.db', and 'ok, 1 s' in 'other_step.db'" err
refuses "other profiles" 2 "simulated with different profiles" other_profiles.db
refuses "another version" 2 "simulated by stepsim" other_version.db
refuses "another schema" 2 "is a database, but not of sweeps (stepsim.sweep/0)" other_schema.db
refuses "a missing file" 4 "cannot read 'none.db'" "${parts[0]}" none.db
refuses "a scenario" 2 "no file of sweeps" small.yaml
expect "parts that disagree, into a new file" 2 "$program" merge new.db "${parts[0]}" other_step.db
has "parts that disagree, into a new file" "in 'small.1-of-4.sweep.db', and 'ok, 1 s' in 'other_step.db'" err
[[ ! -e new.db ]] || fail "a failed merge leaves a file"
expect "nowhere to write" 4 "$program" merge no/such/folder.db "${parts[0]}"
