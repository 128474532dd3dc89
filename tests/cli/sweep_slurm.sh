#!/bin/bash
# Checks sweeps on a real Slurm: it starts one of a single node in a temporary folder, runs the array
# that docs/sweep.md shows and ranks of MPI, compares with a lone process byte by byte, and stops
# all of it. No other Slurm of the machine is touched. Exits with 77 where Slurm is missing.
# Usage: sweep_slurm.sh PROGRAM [--install]     --install: by apt-get (slurm-wlm, munge), as root
set -euo pipefail
program=$(realpath "$1")
document=$(realpath "$(dirname "$0")")/../../docs/sweep.md
folder=$(mktemp -d)
cd "$folder"

daemons=()
clean_up() {
  if [[ -e slurm.conf ]]; then
    scancel --user="$(id -un)" 2>/dev/null || true
    for ((i = 0; i < 50; ++i)); do [[ -n $(squeue -h 2>/dev/null || true) ]] || break; sleep 0.2; done
  fi
  for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${daemons[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

fail() {
  echo "$1"
  tail -n 20 out err ./*.log 2>/dev/null | cut -c 1-200
  exit 1
}
# expect CASE CODE COMMAND...: exits with CODE; what it prints is in out and err.
expect() {
  local code=0
  timeout 120 "${@:3}" >out 2>err </dev/null || code=$?
  ((code == $2)) || fail "$1: exits with $code instead of $2"
}
has() { grep -qF -- "$2" "${3:-out}" || fail "$1: there is no '$2'"; }
same() { cmp -s out whole.csv || fail "$1: not the bytes of a lone process"; }

if [[ ${2-} == --install ]]; then
  DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends slurm-wlm munge >&2
fi
PATH=$(dirname "$program"):$PATH:/usr/sbin
for tool in slurmctld slurmd munged sbatch srun; do
  command -v $tool >/dev/null || { echo "no $tool: apt-get install slurm-wlm munge"; exit 77; }
done

# Slurm of this machine alone, on ports that nobody uses, run by whoever runs this.
read -r port_a port_b < <(python3 -c '
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*[s.getsockname()[1] for s in sockets])')
chmod 755 . && mkdir state spool
(umask 077 && head -c 1024 /dev/urandom >munge.key)
cat >slurm.conf <<EOF
ClusterName=stepsim
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port_a
SlurmdPort=$port_b
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
KillWait=5
MpiDefault=none
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
EOF
export SLURM_CONF=$folder/slurm.conf
munged --foreground --force --socket="$folder/munge.socket" --key-file="$folder/munge.key" \
  --log-file="$folder/munged.log" --pid-file="$folder/munged.pid" \
  --seed-file="$folder/munge.seed" >/dev/null 2>&1 &
daemons+=($!)
for ((i = 0; i < 50; ++i)); do [[ ! -S munge.socket ]] || break; sleep 0.1; done
slurmctld -D >/dev/null 2>&1 &
daemons+=($!)
slurmd -D >/dev/null 2>&1 &
daemons+=($!)
for ((i = 0; i < 150; ++i)); do
  [[ $(sinfo -h -o %T 2>/dev/null || true) != idle ]] || break
  sleep 0.2
done
expect "Slurm starts" 0 sinfo -h -o %T
has "Slurm starts" idle

cat >small.yaml <<'EOF'
model: mpt-125m
cluster: dgx-a100-80
training: {sequence_length: 2048, attention: flash1, global_batch: 64}
EOF
cat >splits.yaml <<'EOF'
scenario: small.yaml
axes:
  parallelism.data.bucket: 1..1000MiB
  training.micro_batch: [2, 3]
EOF
sweep=(stepsim sweep splits.yaml --format csv)
expect "a lone process" 0 "${sweep[@]}" --db whole.db
mv out whole.csv
points=2000

# The array of the document, then its two commands.
sed -n '/^```sh sweep.sbatch$/,/^```$/p' "$document" | sed '1d;$d' >sweep.sbatch
has "the document" "#SBATCH --array=1-4" sweep.sbatch
expect "the array" 0 sbatch --wait sweep.sbatch
for part in 1 2 3 4; do
  has "the array" "shard $part of 4: $((points / 4)) of 2,000 points" "splits.$part.txt"
done
expect "merged" 0 stepsim merge splits.sweep.db splits.[1-4]-of-4.sweep.db
has "merged" "2,000 of 2,000 points from 4 files"
expect "the array's points" 0 "${sweep[@]}" --resume
same "the array's points"

# Ranks of MPI, by srun.
if [[ $(srun --mpi=list 2>&1) == *pmix* && $(ldd "$program") == *libmpi* ]]; then
  ranks=(srun --mpi=pmix --ntasks=3)
  expect "ranks" 0 "${ranks[@]}" "${sweep[@]}" --db ranks.db
  same "ranks"

  "${ranks[@]}" "${sweep[@]}" --db killed.db >out 2>err </dev/null &
  step=$!
  sleep 2
  victim=''
  for pid in $(pgrep -f "stepsim sweep .*--db killed.db" | sort -n); do
    [[ -n $victim ]] || ! { tr '\0' '\n' <"/proc/$pid/environ" | grep -qx PMIX_RANK=1; } 2>/dev/null ||
      victim=$pid
  done
  kill -9 "$victim"
  ! wait $step || fail "a rank was killed, and srun says that all is well"
  expect "after a rank was killed" 0 stepsim merge kept.db killed.db
  ! grep -q " 0 of 2,000\| 2,000 of 2,000" out || fail "a rank was killed: not a part is kept"
  expect "gone on with after that" 0 "${ranks[@]}" "${sweep[@]}" --db killed.db --resume
  same "gone on with after that"

  "${ranks[@]}" "${sweep[@]}" --db cancelled.db >out 2>err </dev/null &
  step=$!
  sleep 2
  scancel --user="$(id -un)"
  code=0
  wait $step || code=$?
  ((code == 3)) || fail "scancel: exits with $code instead of 3"
  has "scancel" "--resume goes on" err
  expect "gone on with after scancel" 0 "${ranks[@]}" "${sweep[@]}" --db cancelled.db --resume
  same "gone on with after scancel"

  expect "tasks that MPI does not join" 2 srun --mpi=none --ntasks=2 "${sweep[@]}" --db none.db
  has "tasks that MPI does not join" "srun --mpi=pmix" err
fi
