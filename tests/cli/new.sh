#!/bin/bash
# Checks from outside that `stepsim new` lists templates, copies them as they are, and that each runs and fits.
# Usage: new.sh PROGRAM
set -euo pipefail
library=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export library command=(new)
# shellcheck source=tests/cli/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

expect "a list" 0
cp out list
found=0
for file in "$library"/scenarios/templates/*.yaml; do
  name=$(basename "$file" .yaml)
  has "$name in the list" "$name " list
  has "what $name is" "$(sed -n '1s/^# //p' "$file")" list
  expect "$name printed" 0 "$name"
  cmp -s out "$file" || fail "$name is printed with a change"
  expect "$name written" 0 "$name" -o "$name.yaml"
  has "$name written" "scenario in $name.yaml: stepsim run $name.yaml" err
  "$program" run "$name.yaml" --require-fit >run 2>err || fail "$name does not run, or does not fit: $(cat err)"
  found=$((found + 1))
done
((found >= 5 && found == $(wc -l <list))) || fail "$found templates, and a list of $(wc -l <list)"

expect "a name that is near" 2 finetune-fsdp
has "a name that is near" "no template 'finetune-fsdp', did you mean 'finetune-fsdp2'?" err
expect "a path for a name" 2 ../clusters/dgx-h100
has "a path for a name" "no template '../clusters/dgx-h100'" err
expect "a file of nothing" 2 -o mine.yaml
has "a file of nothing" "-o: of which template?" err
echo "mine: 1" >mine.yaml
expect "a file of somebody" 2 finetune-fsdp2 -o mine.yaml
[[ $(cat mine.yaml) == "mine: 1" ]] || fail "a file of somebody has been replaced"
expect "a file of somebody, by force" 0 finetune-fsdp2 -o mine.yaml --force
expect "no folder" 4 finetune-fsdp2 -o no/such/folder.yaml
