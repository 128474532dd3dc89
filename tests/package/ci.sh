#!/bin/bash
# Runs the commands of docs/ci/, as GitHub and GitLab would, on a project whose rows and scenarios are met, then on
# one where they are not. Usage: ci.sh CMAKE BUILD_FOLDER DOCS_CI_FOLDER
set -euo pipefail
cmake=$1 build=$2 files=$3
for python in python3 /usr/bin/python3 ""; do
  [[ -z $python ]] || ! "$python" -c 'import yaml' 2>/dev/null || break
done
[[ -n $python ]] || { echo "no python3-yaml"; exit 77; }
command -v curl >/dev/null || { echo "no curl"; exit 77; }
unset "${!STEPSIM_@}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{project/measured,project/scenarios,opt}
cd "$scratch/project"
"$cmake" --install "$build" --component program --prefix "$scratch/stepsim" >"$scratch/out"
tar -czf "$scratch/stepsim.tar.gz" -C "$scratch" stepsim
export STEPSIM_ARCHIVE=file://$scratch/stepsim.tar.gz RUNNER_TEMP=$scratch/runner GITHUB_PATH=$scratch/path

cat >scenarios/small.yaml <<'END'
model: mpt-125m
cluster: dgx-a100-80
training: {sequence_length: 2048, attention: flash1, global_batch: 8}
expect: {fits: true}
END
cat >measured/mine.yaml <<'END'
suite: mine
title: A run
source: this test
assumptions: [none]
scenario: {model: mpt-125m, cluster: dgx-a100-80, training: {sequence_length: 2048, attention: flash1}}
table: mine.csv
map: {training.global_batch: batch}
measured: time_ms ms
label: '"batch " // batch'
tolerance: {row: 20 %}
END
measured() { printf 'batch,time_ms\n8,%s\n' "$1" >measured/mine.csv; }
ms=$("$scratch/stepsim/bin/stepsim" run scenarios/small.yaml --format json | "$python" -c '
import json, sys
print(1000 * json.load(sys.stdin)["step_time_s"])')

# The commands of a file: of each step of GitHub's by itself, with its own code; of GitLab's in one shell.
commands() { "$python" - "$files/$1.yaml" "$2" <<'END'
import sys, yaml
file = yaml.safe_load(open(sys.argv[1]))
if sys.argv[2] == "gitlab":
    job = file["stepsim"]
    # The image's packages are none of the system that this runs on.
    lines = [line for line in job["before_script"] + job["script"] if not line.startswith("apt-get")]
    print("\n".join(lines))
else:
    for step in file["jobs"]["predict"]["steps"]:
        if "run" in step:
            lines = step["run"].rstrip().replace("'", "'\\''")
            print(f"PATH=$(cat $GITHUB_PATH 2>/dev/null):$PATH bash -e -c '{lines}' || failed=1")
    print("exit ${failed-0}")
END
}
# expect CASE CODE SERVICE TEXT: the job exits with CODE and has said TEXT.
expect() {
  local code=0
  rm -rf stepsim.xml "$scratch"/{path,runner}
  commands "$3" "$3" | sed "s|/opt/stepsim|$scratch/opt|g" >"$scratch/job"
  env -u BASH_ENV bash -e "$scratch/job" >"$scratch/out" 2>&1 || code=$?
  if ((code != $2)) || ! cat "$scratch/out" stepsim.xml | grep -q -- "$4"; then
    echo "$1: exits with $code instead of $2, or does not say: $4"
    cat "$scratch/out"
    exit 1
  fi
}

measured "$ms"
expect "GitHub, all is well" 0 github '<testsuite '
expect "GitLab, all is well" 0 gitlab '<testsuite '
measured "$(awk "BEGIN { print 2 * $ms }")"
expect "GitHub, a row is off" 1 github '::error'
expect "GitLab, a row is off" 1 gitlab '<failure '
measured "$ms"
sed -i 's/fits: true/mfu: ">= 90 %"/' scenarios/small.yaml
expect "GitHub, an expectation is not met" 1 github '::error file=scenarios/small.yaml'
expect "GitLab, an expectation is not met" 1 gitlab '✗ mfu'
