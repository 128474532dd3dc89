#!/bin/bash
# Checks that check_docs.sh accepts what is right and refuses what is wrong.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/docs" "$folder/sim/core"
touch "$folder/sim/a.hpp" "$folder/sim/core/b.cpp"
printf '# Rooms\n\n`core/`\n' >"$folder/sim/README.md"

long=$(printf 'x%.0s' {1..121})
printf '# A page\n\n## What it is, `and` why\n\n`sim/a.hpp`, `sim/ROOM/b.hpp`, [here](#what-it-is-and-why), [there](docs/b.md#b)\n' >"$folder/README.md"
printf '# B\n\n%s\n\n[up](../README.md#a-page), [out](https://example.org/#x)\n\n```sh\n# [no](link)\n```\n' "${long#x}" \
  >"$folder/docs/b.md"
"$here/check_docs.sh" "$folder" >"$folder/out" || { cat "$folder/out"; exit 1; }
diff <(echo "3 documents, 0 offences") "$folder/out"

printf '%s\n\n| %s |\n\n[a](c.md)\n[b](../README.md#b)\n' "$long" "$long" >"$folder/docs/c.md"
mkdir "$folder/sim/plan"
touch "$folder/sim/plan/c.cpp"
printf '[d](e.md) and [f](../README.md), `sim/c.hpp`\n' >"$folder/docs/d.md"
if "$here/check_docs.sh" "$folder" >"$folder/out"; then
  echo "wrong documents were accepted"
  exit 1
fi
diff - "$folder/out" <<'END'
docs/c.md:1: longer than 120 characters
docs/c.md:3: longer than 120 characters
docs/c.md:6: no such heading: ../README.md#b
docs/d.md:1: nothing at the link's end: e.md
docs/d.md:1: no such file: sim/c.hpp
sim/README.md: nothing about sim/plan/
5 documents, 6 offences
END
