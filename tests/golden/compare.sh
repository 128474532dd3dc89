#!/bin/bash
# Checks that no number has moved: the program's outputs against the files here.
# Usage: compare.sh PROGRAM
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
now=$(mktemp -d)
trap 'rm -rf "$now"' EXIT
"$here/write.sh" "$1" "$now"
if ! diff -ru --exclude='*.sh' --exclude='*.yaml' --exclude=CMakeLists.txt --exclude=library "$here" "$now"; then
  echo "Outputs have moved (-: committed, +: now). If that is meant: tests/golden/update.sh, and say"
  echo "in the commit which numbers moved and why."
  exit 1
fi
