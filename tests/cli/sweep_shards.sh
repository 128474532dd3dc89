#!/bin/bash
# Checks sweeps that several processes share: parts whose files are merged give the same bytes as one
# process, nothing is lost or done twice, and what does not go together is said.
# Usage: sweep_shards.sh PROGRAM
set -euo pipefail
command=()
# shellcheck source=tests/cli/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

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
has "part 4" "shard 4 of 4: 23 of 90 points: 16 ok, 7 refused"
has "part 4" "stepsim merge"
expect "a part again" 0 "${sweep[@]}" --shard 4/4 --resume
(($(wc -l <out) == 23 + 1)) || fail "the fourth part is not 23 points"
expect "more parts than points" 2 "${sweep[@]}" --shard 1/91 --db empty.db
has "more parts than points" "--shard '1/91': 91 parts of 90 points: some would have none" err
[[ ! -e empty.db ]] || fail "a part that is refused leaves a file"

parts=(small.[1-4]-of-4.sweep.db)
expect "three parts" 0 "$program" merge small.sweep.db "${parts[@]:0:3}"
has "three parts" "sweep_1: 67 of 90 points from 3 files"
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

# A file does not forget the points of another part.
expect "a part, in a file with another one's" 2 "${sweep[@]}" --shard 4/4 --db "${parts[0]}"
has "a part, in a file with another one's" "--resume goes on, --restart begins anew" err

# What does not go together leaves the result as it was.
cp small.sweep.db before.db
python3 - <<'EOF'
import shutil, sqlite3
for name, change in {"other_step": "UPDATE points SET step_time_s = 1 WHERE point = 7",
                     "other_profiles": "UPDATE sweeps SET inputs = 'others'",
                     "other_version": "UPDATE points SET build = '0.0.1 ' || substr(build, 7)",
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
refuses "parts that disagree" 2 "point 7 of small (parallelism.data.bucket 3 MiB, training.micro_batch 2) is" other_step.db
has "parts that disagree" "'small.sweep.db', and 'ok, 1 s' in 'other_step.db'" err
refuses "other profiles" 2 "simulated with different profiles" other_profiles.db
refuses "another version" 2 "simulated by different builds of stepsim, 0.0.1 " other_version.db
refuses "another schema" 2 "was written by another stepsim (stepsim.sweep/0)" other_schema.db
refuses "a missing file" 4 "cannot read 'none.db'" "${parts[0]}" none.db
refuses "a scenario" 2 "no file of sweeps" small.yaml
expect "parts that disagree, into a new file" 2 "$program" merge new.db "${parts[0]}" other_step.db
has "parts that disagree, into a new file" "in 'small.1-of-4.sweep.db', and 'ok, 1 s' in 'other_step.db'" err
[[ ! -e new.db ]] || fail "a failed merge leaves a file"
expect "nowhere to write" 4 "$program" merge no/such/folder.db "${parts[0]}"

# Ranks of MPI. mpirun as root, with more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
if [[ ! -e $(dirname "$program")/modules/libstepsim_mpi.so ]]; then
  expect "ranks without MPI" 2 env OMPI_COMM_WORLD_SIZE=4 "${sweep[@]}" --db none.db
  has "ranks without MPI" "built without MPI: apt-get install" err
  exit 0
fi
command -v mpirun >/dev/null || exit 0
ranks() { timeout 400 mpirun --oversubscribe --bind-to none -n "$@"; }
expect "two ranks" 0 ranks 2 "${sweep[@]}" --db two.db
same "two ranks"
expect "three ranks of two jobs" 0 ranks 3 "${sweep[@]}" --db three.db --jobs 2
same "three ranks of two jobs"
expect "ranks that have nothing to do" 0 ranks 2 "${sweep[@]}" --db two.db --resume
same "ranks that have nothing to do"
expect "ranks go on with parts" 0 ranks 2 "${sweep[@]}" --db some.db --resume
same "ranks go on with parts"
expect "a mistake" 2 ranks 3 "$program" sweep small.yaml --vary training.micro_bach=1,2
(($(grep -c "did you mean 'micro_batch'?" err) == 1)) || fail "a mistake is not said once"
expect "a file of results that is there" 2 ranks 2 "${sweep[@]}" --db "${parts[0]}"
has "a file of results that is there" "--resume goes on" err
expect "a rank with other options" 2 ranks 1 "${sweep[@]}" --db odd.db : -n 1 \
  "${sweep[@]}" --db odd.db --set training.global_batch=128
has "a rank with other options" "would do something else than rank 0" err
expect "a rank without files" 4 ranks 1 "${sweep[@]}" --db odd.db --restart : -n 1 \
  "$program" sweep no.yaml "${axes[@]}"
has "a rank without files" "rank 1 of 2: cannot read 'no.yaml'" err
expect "tasks of srun that MPI does not join" 2 env SLURM_STEP_NUM_TASKS=4 "${sweep[@]}" --db none.db
has "tasks of srun that MPI does not join" "srun --mpi=pmix" err
expect "parts that srun started" 0 env SLURM_STEP_NUM_TASKS=4 "${sweep[@]}" --shard 1/30

# Killed in the middle, each time somebody else, then gone on with: as if nothing had been. The last
# point takes long, for without warm-up all of its steps are simulated: so not all is done before the first
# kills; those that come later may be late.
values=''
for i in {1..240}; do values+=${i}MiB:2:1:64,; done
many=("$program" sweep small.yaml --set run.warmup=0 --format csv --vary
      "parallelism.data.bucket,run.steps,training.micro_batch,training.global_batch=${values}512MiB:7000:1:640")
expect "never killed" 0 "${many[@]}" --db calm.db
mv out calm.csv
cat >points.py <<'EOF'
# points.py [BEFORE]: how many points are safe in killed.db, once they are more than BEFORE, or all
# but the long one.
import sqlite3, sys, time
def points():
    try:
        file = sqlite3.connect("file:killed.db?mode=ro", uri=True)
        return file.execute("SELECT count(*) FROM points").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
end = time.time() + 300  # a busy machine
while len(sys.argv) > 1 and points() <= min(int(sys.argv[1]), 239) and time.time() < end:
    time.sleep(0.02)
print(points())
EOF
before=0 middles=0
for who in "the first rank" "another rank" "mpirun, asked to end" "mpirun"; do
  mpirun --oversubscribe --bind-to none -n 3 "${many[@]}" --db killed.db --resume >out 2>err </dev/null &
  mpirun=$!
  kept=$(python3 points.py "$before")
  ((kept > 0 && kept >= before)) || fail "nothing is kept before $who is killed"
  before=$kept
  started=()
  while kill -0 $mpirun 2>/dev/null && ((${#started[@]} < 3)); do
    mapfile -t started < <(pgrep -P $mpirun | sort -n)
    sleep 0.1
  done
  case $who in
    "the first rank") kill -9 "${started[0]}" ;;
    "another rank") kill -9 "${started[1]}" ;;
    "mpirun") kill -9 $mpirun ;;
    *) kill -INT $mpirun ;;
  esac 2>/dev/null || true
  wait $mpirun 2>/dev/null || true
  for pid in "${started[@]}"; do
    for ((i = 0; i < 300; ++i)); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    ! kill -0 "$pid" 2>/dev/null || fail "$who was killed: a rank goes on"
  done
  before=$(python3 points.py)
  ((before >= kept)) || fail "$who was killed: $before of $kept points are kept"
  ((before < 241)) || break
  middles=$((middles + 1))
done
((middles > 0)) || fail "all was done before anybody was killed"
expect "gone on with by ranks" 0 ranks 3 "${many[@]}" --db killed.db --resume
same "gone on with by ranks" calm.csv
