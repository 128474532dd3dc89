#!/bin/bash
# Builds the site and checks that it is whole: strict about links, examples are pages, nothing is asked of the network.
# Usage: site.sh PROGRAM
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command -v mkdocs >/dev/null || { echo "no mkdocs here; ./dev docs installs it"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 "$root/docs/site/build_site.py" "$1" "$folder/docs"
cd "$folder/docs/site"
for page in index.html examples.html docs/commands.html docs/decisions/026-pages-from-json.html; do
  [[ -s $page ]] || { echo "the site has no $page"; exit 1; }
done
examples=$(grep -o 'iframe src="[^"]*"' examples.html | cut -d'"' -f2)
(($(wc -w <<<"$examples") >= 6)) || { echo "few examples: $examples"; exit 1; }
for example in $examples; do
  grep -q 'data-kind=' "$example" || { echo "$example is no page"; exit 1; }
done
if grep -lE '<(script|link|img)[^>]*(src|href)="https?:' ./*.html docs/*.html; then
  echo "these ask the network for what they show"
  exit 1
fi
