#!/bin/bash
# Checks from outside that `stepsim explain` prints what it knows when it is interrupted.
# Usage: explain.sh PROGRAM
set -euo pipefail
library=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export library command=()
# shellcheck source=tests/cli/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

# The changes of this scenario take seconds, and the first ones are over after the time of one.
scenario=$library/scenarios/gpt3-175b-1024xa100.yaml
for format in table json; do
  set -m
  "$program" explain "$scenario" --format $format >out 2>err </dev/null &
  set +m
  explain=$!
  # However busy the machine: its copies simulate the changes.
  until pgrep -P $explain >/dev/null || ! kill -0 $explain 2>/dev/null; do sleep 0.01; done
  kill -INT $explain
  code=0
  wait $explain || code=$?
  ((code == 3)) || fail "Ctrl-C, $format: exits with $code instead of 3"
  cp out $format
done
has "Ctrl-C" "On the critical path" table
has "Ctrl-C" "Interrupted" table
lacks "Ctrl-C" "Verdict" table
python3 - <<'END' || fail "Ctrl-C: the JSON is not as documented"
import json
explanation = json.load(open("json"))
assert explanation["interrupted"] is True and explanation["verdict"] is None
assert explanation["step_time_s"] > 0
END
