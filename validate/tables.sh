#!/bin/bash
# Scores the suites on other tables that have the suites' columns: for each
# validate/suites/NAME.yaml it takes FOLDER/NAME.csv, where there is one, or the FILE that NAME=FILE
# names. Prints one line a suite. Usage: tables.sh PROGRAM FOLDER [NAME=FILE...]
set -euo pipefail
program=$1 folder=$2
shift 2
declare -A files=()
for pair in "$@"; do files[${pair%%=*}]=${pair#*=}; done

scored=0
for suite in "$(dirname "${BASH_SOURCE[0]}")"/suites/*.yaml; do
  name=$(basename "$suite" .yaml)
  table=$folder/${files[$name]-$name.csv}
  [[ -e $table ]] || { echo "$name: no $table" >&2; continue; }
  code=0
  result=$("$program" validate "$suite" --table "$table") || code=$?
  ((code <= 1)) || exit "$code"
  ((scored)) || printf '%-20s%6s%9s%9s%9s%9s%9s\n' suite rows mean median 90th largest bias
  scored=$((scored + 1))
  printf '%-17s%s\n' "$name" "$(sed -n 's/^all.\{40\}//p' <<<"$result" | head -1)"
  sed -n '/^Not predicted/,/^$/p' <<<"$result"
done
((scored > 0))
