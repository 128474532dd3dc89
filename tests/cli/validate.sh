#!/bin/bash
# Checks `stepsim validate` from outside: formats, exit codes, files, and that jobs change nothing.
# Usage: validate.sh PROGRAM
set -euo pipefail
command=(validate)
# shellcheck source=tests/cli/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

cat >small.yaml <<'END'
suite: small
title: Two rows that are met, one that is not, one that cannot be
source: this test
assumptions: [none]
scenario:
  model: mpt-125m
  cluster: dgx-a100-80
  training: {sequence_length: 2048, attention: flash1}
table: small.csv
map:
  training.global_batch: batch
  parallelism.tensor: tp
measured: time_ms ms
label: '"batch " // batch // ", tp " // tp'
groups: {tp: tp}
END
printf 'batch,tp,time_ms\n8,1,20\n16,2,40\n8,3,20\n' >small.csv
cat >run.yaml <<'END'
model: mpt-125m
cluster: dgx-a100-80
training: {sequence_length: 2048, attention: flash1, global_batch: 8}
END

expect "a row that the checks refuse" 1 small.yaml
has "a row that the checks refuse" "Not predicted"
has "a row that the checks refuse" "tensor"
[[ ! -s err ]] || fail "something is said where nobody waits"
(($(wc -L <out) <= 100)) || fail "the table is wider than 100 columns"
cp out whole
for jobs in 1 2 3; do
  expect "$jobs jobs" 1 small.yaml --jobs $jobs
  cmp -s out whole || fail "$jobs jobs change the result"
done

expect "a filter" 0 small.yaml --filter 'tp < 3' --html page.html
has "the page" "data-kind=\"validate\"" page.html
expect "a page in place of the rows" 2 small.yaml --html ./small.csv
has "a page in place of the rows" "--html './small.csv' would replace a file that is read" err
mkfifo pipe
expect "a record that is a pipe" 2 small.yaml --record pipe
has "a record that is a pipe" "is no file" err
expect "no record" 2 small.yaml --baseline ''
sed 's/^suite: small/suite: other/; s/^groups: .*/groups: {degree: tp}/' small.yaml >group.yaml
expect "a column that one suite lacks" 0 small.yaml group.yaml --filter 'degree < 3' --format csv
(($(grep -c '^other,' out) == 2 && $(grep -c '^small,' out) == 0)) || fail "the wrong suite is filtered"
has "a column that one suite lacks" "--filter: no rows of small, which has no column 'degree'" err
expect "a column that no suite has" 2 small.yaml group.yaml --filter 'degrees < 3'
has "a column that no suite has" "no column 'degrees' in any of the 2 suites, did you mean 'degree'?" err
expect "a filter that does not parse" 2 small.yaml group.yaml --filter 'tp > > 3'
(($(grep -c 'is not an expression' err) == 1)) || fail "a broken filter is said once for each suite"
expect "a filter of none" 2 small.yaml --filter 'tp > 3'
has "a filter of none" "no row" err

printf 'batch,tp,time_ms,more\n8,1,20,x\n16,,40,y\n' >other.csv
expect "another table" 1 small.yaml --table other.csv --format json
has "another table" '"reason": "map.parallelism.tensor: column '"'tp'"' is blank"'
has "another table" '"measured_s": 0.04'
for key in rows mape median_ape p90_ape max_ape bias groups worst; do has "json" "\"$key\":"; done
printf 'batch,tp,time_ms\n8,1,20\n8,1,0\n8,1,-3\n8,1,\n8,1,n/a\n' >untimed.csv
expect "times that cannot be read" 1 small.yaml --table untimed.csv --format csv
(($(grep -c '^small,"batch 8, tp 1",tp=1,,,,' out) == 4)) || fail "unreadable times are measured"
printf 'batch,time_ms\n8,20\n' >narrow.csv
expect "a table without a column" 2 small.yaml --table narrow.csv
has "a table without a column" "no column 'tp'" err

expect "csv" 1 small.yaml --format csv
(($(wc -l <out) == 4)) || fail "csv has not one line a row"
expect "junit" 1 small.yaml --format junit
has "junit" '<testsuite name="small" tests="3" failures="1">'
expect "github" 1 small.yaml --format github
has "github" "::error file=small.csv,line=4,title=small::batch 8, tp 3: not predicted"
expect "markdown" 1 small.yaml --format markdown
has "markdown" "| all |"
expect "causes" 0 small.yaml --filter 'tp == 1' --causes
has "causes" "forward "

sed -i '/8,3,20/d' small.csv
expect "a record" 0 small.yaml --record record.yaml
has "a record" "new, mean" err
has "a record" "small,small,a100,ampere,dense transformer" record_runs.csv
expect "the same again" 0 small.yaml --baseline record.yaml
expect "nothing new" 0 small.yaml --record record.yaml
has "nothing new" "nothing has changed" err
sed -i 's/mean: .*/mean: 0/' record.yaml
expect "worse than recorded" 1 small.yaml --baseline record.yaml
has "worse than recorded" "recorded 0.0 %"
mkdir -p library/validate
for suite in one two three; do sed "s/^small,small,/$suite,$suite,/; /^#/d" record_runs.csv; done | awk '!seen[$0]++' >library/validate/recorded_runs.csv
STEPSIM_LIBRARY=$PWD/library "$program" run run.yaml >out
has "a run like those of the record" "Likely error   median"
has "a run like those of the record" "3 suites"
echo 'suite,errors' >library/validate/recorded_runs.csv
code=0
STEPSIM_LIBRARY=$PWD/library "$program" run run.yaml >out 2>err || code=$?
((code == 0)) || fail "a run with a broken record exits with $code"
has "a broken record" "warning: without the likely error: " err
has "a broken record" "recorded_runs.csv:1:1: not a record of runs" err
has "a broken record" "Step time"
lacks "a broken record" "Likely error"
cp library/validate/recorded_runs.csv broken_runs.csv
expect "a broken record is named before anything is predicted" 2 small.yaml --record broken.yaml
[[ ! -s out ]] || fail "rows were predicted before the record was read"
expect "a record of a part" 2 small.yaml --record record.yaml --filter 'tp == 1'
expect "a record that would replace a suite" 2 small.yaml --record small.yaml
has "a record that would replace a suite" "--record 'small.yaml' would replace a file that is read" err
expect "a page onto the runs of a record" 2 small.yaml --record new.yaml --html new_runs.csv
has "a page onto the runs of a record" "are the same file, 'new_runs.csv'" err
expect "a filter that no row meets" 2 small.yaml --filter 'tp > 9'
has "a filter that no row meets" "--filter: no row is left to validate, no row meets it" err
printf 'batch,tp,time_ms\n' >none.csv
expect "a table without rows" 2 small.yaml --table none.csv
has "a table without rows" "none.csv:1:1: no row is left to validate" err
expect "a text that is compared" 2 small.yaml --filter 'tp < "a"'
has "a text that is compared" "\"a\" is a text, where a number is wanted: 'tp' is the number 1 here" err
cp small.yaml limits.yaml
echo 'tolerance: {mean: 0.001 %, median: 99 %}' >>limits.yaml
expect "limits as cases" 1 limits.yaml --format junit
has "limits as cases" '<testcase classname="small" name="limit of median" />'
has "limits as cases" '<testcase classname="small" name="limit of mean">'
has "limits as cases" '<testsuite name="small" tests="4" failures="1">'
echo 'tolerance: {row: 0.001 %}' >>small.yaml
expect "a broken tolerance" 1 small.yaml
has "a broken tolerance" "Broken"

expect "no such file" 4 nothing.yaml
expect "an unknown format" 2 small.yaml --format jsno
has "an unknown format" "did you mean 'json'?" err
expect "one table for two suites" 2 small.yaml small.yaml --table other.csv
expect "help" 0 --help
has "help" "Example: stepsim validate"
