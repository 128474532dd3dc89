#!/bin/bash
# Checks from outside that `stepsim explain` says of a trace what `stepsim run --trace` said of its scenario: the same
# breakdown, verdict and stragglers. Usage: trace_round_trip.sh PROGRAM SCENARIO... or PROGRAM all
set -euo pipefail
library=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export library command=()
# shellcheck source=tests/cli/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

scenarios=("${@:2}")
levels=(kernel)
[[ ${scenarios[*]} != all ]] || { scenarios=("$library"/scenarios/*.yaml) levels=(kernel task); }

for scenario in "${scenarios[@]}"; do
  [[ $scenario == */* ]] || scenario=$library/scenarios/$scenario.yaml
  name=$(basename "$scenario" .yaml)
  for level in "${levels[@]}"; do
    # A compressed one is the same file; to compress the largest takes longer than all the rest.
    trace=$name.json
    [[ $level == kernel ]] || trace=$name.json.gz
    expect "$name" 0 "$program" run "$scenario" --format json --trace "$trace" --trace-level $level
    mv out run.json
    expect "$name, read back" 0 "$program" explain "$trace" --format json
    python3 - run.json out <<'END' || fail "$name, a slice a $level: explain and run differ"
import json, sys
run, read = (json.load(open(file)) for file in sys.argv[1:])
step = run["step_time_s"]
assert abs(read["step_time_s"] - step) <= 1e-6 * step, "step"
assert run["breakdown_s"].keys() == read["breakdown_s"].keys(), "causes"
for cause, seconds in run["breakdown_s"].items():
    assert abs(read["breakdown_s"][cause] - seconds) <= 1e-4 * step, cause
    # Rounding to ns neither makes a cause nor loses one.
    assert (seconds > 1e-8) == (read["breakdown_s"][cause] > 1e-8), cause
assert run["verdict"] == read["verdict"], (run["verdict"], read["verdict"])
stragglers = run["faults"]["stragglers"]
assert [s["ranks"] for s in stragglers] == [s["ranks"] for s in read["stragglers"]], "stragglers"
for one, other in zip(stragglers, read["stragglers"]):
    assert abs(one["late_s"] - other["late_s"]) <= 1e-6 * step, "late"
assert read["not_known"] == [], read["not_known"]
END
    rm "$trace"
  done
done
