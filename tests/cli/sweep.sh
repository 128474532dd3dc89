#!/bin/bash
# Checks `stepsim sweep` from outside: formats, exit codes, files, that jobs change nothing, and that
# nothing is lost or done twice when it is killed.
# Usage: sweep.sh PROGRAM
set -euo pipefail
library=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command=(sweep)
# shellcheck source=tests/cli/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

cat >small.yaml <<'END'
model: mpt-125m
cluster: dgx-a100-80
training: {sequence_length: 2048, attention: flash1, global_batch: 64}
END
batches=(--vary training.micro_batch=1..8)
grid=(--vary training.micro_batch=1,2,3 --vary parallelism.data.bucket=4MiB..16MiB*2
      --vary parallelism.tensor=1,2,3,4)

expect "one axis" 0 small.yaml "${batches[@]}"
has "one axis" "8 points: 4 ok, 4 refused"
has "one axis" "Flat           micro_batch 8"
has "one axis" "small.sweep.db, view sweep_1"
[[ -s small.sweep.db && ! -s err ]] || fail "no file of results, or something is said where nobody waits"
(($(wc -L <out) <= 80)) || fail "the table is wider than 80 columns"

expect "an axis that does not matter" 0 small.yaml --vary run.seed=1..4
has "an axis that does not matter" "Flat           seed makes no difference: 1 to 4 give the same"

# Jobs change nothing, and each result is the same as that of `run`.
expect "one job" 0 small.yaml "${grid[@]}" --jobs 1 --format csv --db one.db
cp out whole.csv
for jobs in 2 8; do
  expect "$jobs jobs" 0 small.yaml "${grid[@]}" --jobs $jobs --format csv --db "$jobs.db"
  cmp -s out whole.csv || fail "$jobs jobs change the result"
done
(($(wc -l <whole.csv) == 3 * 3 * 4 + 1)) || fail "there is not one line for each point"
step=$("$program" run small.yaml --set training.micro_batch=2 --set parallelism.data.bucket=4MiB \
  --set parallelism.tensor=2 --format json | sed -n 's/.*"step_time_s": \(.*\),/\1/p')
grep -q "^[0-9]*,2,4 MiB,2,ok,,$step," whole.csv || fail "a point is not what run says: $step"

# Killed in the middle, and again, then resumed: as if nothing had been.
many=(--vary parallelism.data.bucket=1..2400MiB --format csv --jobs 2)
# None where the program was killed before it had made its tables.
done_points() {
  python3 -c 'import sqlite3, sys
file = sqlite3.connect(sys.argv[1])
made = file.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", ("points",)).fetchone()[0]
print(file.execute("SELECT count(*) FROM points").fetchone()[0] if made else 0)' "$1"
}
expect "never killed" 0 small.yaml "${many[@]}" --db calm.db
cp out calm.csv
# However long the first point takes: it is there when it is seen to be.
"$program" sweep small.yaml "${many[@]}" --db killed.db --resume >out 2>err </dev/null &
until [[ -s killed.db ]] && (($(done_points killed.db) > 0)) || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
kill -9 $! 2>/dev/null || true
wait $! 2>/dev/null || true
kept=$(done_points killed.db)
((kept > 0 && kept < 2400)) || fail "not killed in the middle: $kept of 2400 points are there"
expect "resumed" 0 small.yaml "${many[@]}" --db killed.db --resume
cmp -s out calm.csv || fail "what was killed and resumed is not the whole"
expect "resumed when all is done" 0 small.yaml "${many[@]}" --db killed.db --resume
cmp -s out calm.csv || fail "a second resume changes the result"

# Parts of it, in two calls.
expect "part 1" 0 small.yaml "${grid[@]}" --format csv --db parts.db --shard 1/2
(($(wc -l <out) == 3 * 3 * 4 / 2 + 1)) || fail "the first half is not half of the points"
expect "a part, and then the whole" 2 small.yaml "${grid[@]}" --db parts.db
has "a part, and then the whole" "--resume goes on, --restart begins anew" err
expect "part 2" 0 small.yaml "${grid[@]}" --format csv --db parts.db --shard 2/2 --resume
cmp -s out whole.csv || fail "two halves are not the whole"

# Ctrl-C keeps what is done.
set -m
"$program" sweep small.yaml --vary parallelism.data.bucket=1..9000MiB --db stopped.db >out 2>err &
set +m
# Once a point is there, however busy the machine.
until [[ -s stopped.db ]] && (($(done_points stopped.db) > 0)) || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
kill -INT $!
code=0
wait $! || code=$?
((code == 3)) || fail "Ctrl-C: exits with $code instead of 3"
has "Ctrl-C" "--resume goes on" err
has "Ctrl-C" "Best "

expect "restart" 0 small.yaml "${batches[@]}" --restart
expect "the same sweep again" 0 small.yaml "${batches[@]}"

# What is there already is printed, not forgotten; what a machine could not do is tried again.
expect "the same sweep again" 0 small.yaml "${grid[@]}" --format csv --db one.db
cmp -s out whole.csv || fail "a sweep that is there already is printed otherwise"
has "the same sweep again" "has this sweep already; --restart simulates it again" err
expect "all too slow" 1 small.yaml "${batches[@]}" --point-timeout 1us --db slow.db
expect "with more time" 0 small.yaml "${batches[@]}" --db slow.db --resume
has "with more time" "8 points: 4 ok, 4 refused"

# Points that lead to the same scenario: one is simulated, the others have its result.
alike=(small.yaml --vary 'training.recompute=full,{kind: full},none' --vary training.micro_batch=1,2)
expect "alike" 0 "${alike[@]}" --db alike.db
has "alike" "6 points: 6 ok; 2 lead to the scenario of another"
expect "alike, one by one" 0 "${alike[@]}" --db alone.db --format csv --jobs 1
[[ $(sed -n '2,3s/.*,ok,/,ok,/p' out) == "$(sed -n '4,5s/.*,ok,/,ok,/p' out)" ]] ||
  fail "the same scenario has two results"
cp out alone.csv
expect "alike, in two parts" 0 "${alike[@]}" --db two.db --shard 1/2
expect "alike, in two parts" 0 "${alike[@]}" --db two.db --shard 2/2 --resume --format csv
cmp -s out alone.csv || fail "parts change what points alike have"

# A file says which build its points are of; these are of another one.
python3 - <<'END'
import sqlite3
with sqlite3.connect("alike.db") as file: file.execute("UPDATE points SET build = '0.0.1 older'")
END
expect "another build" 2 "${alike[@]}" --db alike.db --resume
has "another build" "another build of stepsim simulated (0.0.1 older; this one is " err
has "another build" "--restart simulates them again, --any-build keeps them" err
expect "another build, printed" 2 "${alike[@]}" --db alike.db
expect "another build, kept" 0 "${alike[@]}" --db alike.db --resume --any-build
expect "another build, kept once" 2 "${alike[@]}" --db alike.db --resume
version=$("$program" --version)
has "another build, kept once" "this one is $version)" err
# builds_in FILE: of its points, in their order, the older one as "older".
builds_in() {
  python3 -c 'import sqlite3, sys
for build, in sqlite3.connect(sys.argv[1]).execute("SELECT build FROM points ORDER BY point"):
    print("older" if "older" in build else "this", end=" ")' "$1"
}
[[ $(builds_in alike.db) == "older older older older older older " ]] ||
  fail "points that are kept are filed under another build"
# Half of them from the older one: each point goes on saying which.
cp alike.db mixed.db
python3 - <<'END'
import sqlite3
with sqlite3.connect("mixed.db") as file: file.execute("DELETE FROM points WHERE point >= 4 OR point = 1")
END
expect "another build, gone on with" 0 "${alike[@]}" --db mixed.db --resume --any-build
# Also 1, which is the scenario of 3: the older one has simulated that.
[[ $(builds_in mixed.db) == "older this older older this this " ]] ||
  fail "what two builds have simulated is filed under one: $(builds_in mixed.db)"
expect "two builds in one file" 2 "${alike[@]}" --db mixed.db --resume
has "two builds in one file" "--any-build keeps them" err
! "$program" merge again.db mixed.db >out 2>err || fail "a file of two builds is merged unasked"
"$program" merge both.db alone.db alike.db >out 2>err && fail "two builds in one file"
has "two builds" "(--any-build unites them as they are)" err
"$program" merge both.db alone.db alike.db --any-build >out 2>err || fail "two builds are not united"
expect "another build, anew" 0 "${alike[@]}" --db alike.db --restart
expect "another build, gone" 0 "${alike[@]}" --db alike.db --resume

# A file with a point that cannot be.
for change in "INSERT INTO points (sweep, point, state, step_time_s) VALUES (1, 77, 'ok', 1)" \
  "UPDATE points SET step_time_s = NULL WHERE state = 'ok'"; do
  cp small.sweep.db broken.db
  python3 -c 'import sqlite3, sys
with sqlite3.connect("broken.db") as file: file.execute(sys.argv[1])' "$change"
  expect "a broken file" 2 small.yaml "${batches[@]}" --db broken.db --resume
  has "a broken file" "'broken.db' is damaged: point " err
  has "a broken file" "--restart simulates the sweep again" err
  code=0
  "$program" merge united.db broken.db >out 2>err || code=$?
  ((code == 2)) || fail "a broken file is merged: $code"
  expect "a broken file, anew" 0 small.yaml "${batches[@]}" --db broken.db --restart
  has "a broken file, anew" "8 points: 4 ok, 4 refused"
done

# A sweep that is done can be printed where nothing can be written.
mkdir closed
cp alike.db small.yaml closed
(($(id -u) != 0)) || { cp "$program" "$folder/program"; chmod 755 "$folder"; }
chmod a-w closed closed/alike.db
# closed_off COMMAND...: not as root, who may write everything.
closed_off() {
  (($(id -u) != 0)) || set -- setpriv --reuid=65534 --regid=65534 --clear-groups "$folder/program" "${@:2}"
  STEPSIM_LIBRARY=$library "$@" >"$folder/out" 2>"$folder/err" </dev/null
}
# Not where they may read neither the program nor its library, in somebody's home.
if (cd closed && closed_off "$program" check small.yaml); then
  (cd closed && closed_off "$program" sweep "${alike[@]}" --db alike.db) || fail "a file that is only read"
  has "a file that is only read" "6 points: 6 ok"
  code=0
  (cd closed && closed_off "$program" sweep small.yaml "${batches[@]}" --db alike.db) || code=$?
  ((code == 4)) || fail "a file that cannot be written: exits with $code"
fi

# A profile that changes, be it of one value of an axis, is another result.
mkdir -p calib/gpus
sed 's/^name: .*/name: mine/' "$library/calib/gpus/a100-80.yaml" >calib/gpus/mine.yaml
gpus=(--set cluster.base=dgx-a100-80 --vary cluster.gpu=a100-80,mine --db gpus.db)
sed 's/cluster: dgx-a100-80/cluster: {base: dgx-a100-80}/' small.yaml >gpus.yaml
expect "two profiles" 0 gpus.yaml "${gpus[@]}"
echo "# another" >>calib/gpus/mine.yaml
expect "a profile that changed" 2 gpus.yaml "${gpus[@]}" --resume
has "a profile that changed" "--restart" err

# Replicas are those of run: its median.
jitter=(--set 'faults.jitter={kernels: {distribution: lognormal, sigma: 3 %, per: step}}'
        --set run.replicas=3)
expect "replicas" 0 small.yaml "${jitter[@]}" --vary training.micro_batch=1,8 --format csv --db j.db
step=$("$program" run small.yaml "${jitter[@]}" --set training.micro_batch=8 --format json |
  sed -n 's/^  "step_time_s": \(.*\),/\1/p')
grep -q ",8,ok,,$step," out || fail "a point with replicas is not what run says: $step"

# Conditions read sizes, of linked keys and of what the scenario states.
sed 's/^training:/parallelism: {data: {bucket: 25 MiB}}\n&/' small.yaml >sized.yaml
expect "sizes" 0 sized.yaml "${batches[@]}" --where 'bucket > 20000000' --db sized.db
expect "sizes of linked keys" 0 small.yaml --db sized.db --where 'bucket < 20000000' \
  --vary 'training.micro_batch,parallelism.data.bucket=1:1MiB,2:25MiB'
has "sizes of linked keys" "1 point of 2"

# Points that take too long or too much are said, and the others are done.
expect "too long" 1 small.yaml "${batches[@]}" --point-timeout 1us --restart
has "too long" "8 points: 0 ok, 4 refused, 4 timed out"
has "too long" "longer than 1e-06 s"
# 8,192 ranks, each with a pace of its own: far more than what reading them left free.
expect "too much" 1 small.yaml --vary training.micro_batch=1,2 --set cluster.nodes=1024 \
  --set training.global_batch=16384 "${jitter[@]:0:2}" --point-memory 1KiB --restart
has "too much" "2 points: 0 ok, 2 out of memory"
has "too much" "more than 1.00 KiB of memory"
[[ ! -s err ]] || fail "too much: something is said on stderr"
expect "too much for a replica" 1 small.yaml --vary training.micro_batch=1 --set cluster.nodes=1024 \
  --set training.global_batch=16384 "${jitter[@]:0:2}" --set run.replicas=2 --point-memory 1MiB --db replicas.db
has "too much for a replica" "1 point: 0 ok, 1 out of memory"

expect "JSON" 0 small.yaml "${batches[@]}" --format json
python3 - <<'END' || fail "the JSON is not as documented"
import json
sweep = json.load(open("out"))
assert sweep["schema"] == "stepsim.sweep_result/1"
assert len(sweep["points"]) == sweep["counts"]["done"] == 8
best = sweep["points"][sweep["best_points"][0]]
assert best["settings"] == {"training.micro_batch": "8"} and best["state"] == "ok"
assert abs(sum(best["breakdown_s"].values()) - best["step_time_s"]) < 1e-9
assert sweep["axes"][0]["flat"]["best"] == "8"
counts = sweep["counts"]
assert counts["refused"] == 4 and counts["crashed"] == counts["alike"] == 0 and counts["shard"] is None
END

cat >grid.yaml <<'END'
scenario: small.yaml
axes:
  training.micro_batch: [1, 2, 4]
  parallelism.tensor, parallelism.data.bucket: [[1, 25 MiB], [2, 50 MiB]]
where: ["micro_batch * tensor <= 4"]
objective: mfu
END
expect "a file of a sweep" 0 grid.yaml
has "a file of a sweep" "5 points of 6: 5 ok"
has "a file of a sweep" "MFU"
expect "a file of a sweep, changed" 0 grid.yaml --vary training.micro_batch=1,2 --objective memory
has "a file of a sweep, changed" "4 points: 4 ok"
expect "a part drawn" 0 grid.yaml --random 3
has "a part drawn" "3 points of 6"

# Points that are no fair comparison, a page that cannot be written, a file that is in use.
expect "different work" 0 small.yaml --vary training.global_batch=64,128
has "different work" "64 to 128 samples a step"
expect "different GPUs" 0 small.yaml --vary cluster.nodes=1,2 --objective tokens_per_s
has "different GPUs" "8 to 16 GPUs"
expect "no place for a page" 4 small.yaml "${batches[@]}" --html no/such/folder.html --db none.db
[[ ! -e none.db ]] || fail "points were simulated for a page that cannot be written"
exec {lock}<>one.db
flock -x $lock
expect "a file in use" 4 small.yaml "${grid[@]}" --db one.db
has "a file in use" "another stepsim writes 'one.db'" err
exec {lock}>&-
expect "nothing to resume" 0 small.yaml --vary training.micro_batch=2,4 --db one.db --resume
has "nothing to resume" "nothing to resume: 'one.db'" err

# What is wrong is said before anything runs.
cp small.yaml kept.yaml
for page in apart.db ./apart.db small.yaml; do
  expect "outputs in one file" 2 small.yaml "${batches[@]}" --db apart.db --html $page
  [[ ! -e apart.db ]] || fail "points were simulated for outputs in one file"
done
has "outputs in one file" "--html 'small.yaml' would replace a file that is read" err
expect "outputs in one file" 2 small.yaml "${batches[@]}" --db apart.db --html apart.db
has "outputs in one file" "--db and --html are the same file, 'apart.db'" err
expect "a page onto a sweep's scenario" 2 grid.yaml --db apart.db --html small.yaml
expect "a sweep's results onto its scenario" 2 grid.yaml --db small.yaml
cmp small.yaml kept.yaml || fail "an output has replaced the scenario"
mkdir -p pages
expect "a page that is a folder" 4 small.yaml "${batches[@]}" --db apart.db --html pages
has "a page that is a folder" "cannot write 'pages': Is a directory" err
[[ ! -e apart.db ]] || fail "points were simulated for a page that is a folder"
expect "pages for nobody" 0 small.yaml "${batches[@]}" --db apart.db --html /dev/null

expect "a key that is varied and set" 2 small.yaml "${batches[@]}" --set training.micro_batch=4
has "a key that is varied and set" "--set training.micro_batch=4: 'training.micro_batch' is varied" err
expect "a number wanted" 2 small.yaml "${batches[@]}" --where 'micro_batch < 2 and model < 2'
has "a number wanted" "'model' is the text 'mpt-125m' here, where a number is wanted" err
expect "a text that is compared" 2 small.yaml "${batches[@]}" --where 'model == "x" or micro_batch < "a"'
has "a text that is compared" "\"a\" is a text, where a number is wanted: 'micro_batch' is the number 1 here" err
has "a text that is compared" '                                ^' err
for wrong in "0s" "-1 s" "3"; do
  expect "a limit of $wrong" 2 small.yaml "${batches[@]}" --point-timeout "$wrong"
  has "a limit of $wrong" "--point-timeout: '$wrong' " err
done
expect "a seed below 0" 2 small.yaml "${batches[@]}" --random 1 --seed -1
has "a seed below 0" "--seed: '-1' is not a whole number from 1 on" err
sed 's/^axes:/axis:/' grid.yaml >typo.yaml
expect "a typo in a sweep" 2 typo.yaml
has "a typo in a sweep" "unknown key 'axis' in the sweep, did you mean 'axes'?" err
code=0
"$program" run grid.yaml >out 2>err || code=$?
((code == 2)) || fail "a sweep that is run: exits with $code"
has "a sweep that is run" "this is a sweep, not a scenario, \`stepsim sweep grid.yaml\` simulates it" err
sed 's/small.yaml/itself.yaml/' grid.yaml >itself.yaml
expect "a sweep of itself" 2 itself.yaml
has "a sweep of itself" "scenario: 'itself.yaml' is a sweep itself" err
expect "nothing varies" 2 small.yaml
has "nothing varies" "add --vary" err
expect "no such key" 2 small.yaml --vary training.micro_bach=1,2 --db none.db
has "no such key" "did you mean 'micro_batch'?" err
[[ ! -e none.db ]] || fail "a file of results although nothing ran"
expect "another unit" 2 small.yaml --vary parallelism.data.bucket=1GB/s
has "another unit" "not a unit of size" err
expect "a million million" 2 small.yaml --vary training.micro_batch=1..100000 \
  --vary training.global_batch=1..100000 --vary parallelism.tensor=1..100
has "a million million" "1e+12 points" err
expect "no point" 2 small.yaml "${batches[@]}" --where 'micro_batch > 8'
has "no point" "none of 8 points" err
expect "no number" 2 small.yaml "${batches[@]}" --where '1/0 > 1'
has "no number" "has no value: division by zero" err
expect "no condition" 2 small.yaml "${batches[@]}" --where 'micro_batch + '
expect "no objective" 2 small.yaml "${batches[@]}" --objective spead
expect "no part" 2 small.yaml "${batches[@]}" --shard 3/2
cp small.yaml other.db
expect "no file of results" 2 small.yaml "${batches[@]}" --db other.db
has "no file of results" "no file of sweeps" err
has "no file of results" "model: mpt-125m" other.db
expect "nowhere to write" 4 small.yaml "${batches[@]}" --db no/such/folder.db
expect "no cost" 2 small.yaml "${batches[@]}" --objective cost
has "no cost" "--objective cost: the scenario has no price" err
