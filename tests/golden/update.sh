#!/bin/bash
# Writes the golden files anew. Only in a commit that says which numbers moved, and why.
# Usage: update.sh [PROGRAM], by default the program that `./dev build` makes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
find "$here" -maxdepth 1 -type f ! -name '*.sh' ! -name '*.yaml' ! -name CMakeLists.txt -delete
"$here/write.sh" "${1:-$here/../../build/stepsim}" "$here"
git -C "$here" status --short . 2>/dev/null || true
