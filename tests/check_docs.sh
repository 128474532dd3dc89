#!/bin/bash
# Checks the documents themselves: no line over 120 characters, every relative link leads to a file and a heading, and
# every file of `sim/` that is named is there, and sim/README.md names each folder. Usage: check_docs.sh [ROOT]
#
# Markdown cannot wrap the row of a table, so that those of a few reference tables may be longer.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
long_tables='^(calib/README|validate/DEVIATIONS|docs/frameworks)\.md$'

# What somebody keeps beside them is no document of the project.
mapfile -t documents < <(find README.md calib docs sim tests validate -name '*.md' 2>/dev/null | sort)
offences=0
refuse() { echo "$1"; offences=$((offences + 1)); }

# The lines of a document that are no code, numbered.
prose() { awk '/^ *```/ { code = !code; next } !code { print NR ":" $0 }' "$1"; }

# What a link says behind the `#` to reach each heading.
headings() {
  prose "$1" | sed -nE 's/^[0-9]+:#+ +//p' | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# Sets `file` to a path without `.` and `..`.
normalise() {
  local part parts
  IFS=/ read -ra parts <<<"$1"
  file=''
  for part in "${parts[@]}"; do
    case $part in
      . | '') ;;
      ..) [[ $file == */* ]] && file=${file%/*} || file='' ;;
      *) file=${file:+$file/}$part ;;
    esac
  done
  file=${file:-.}
}

declare -A anchors
for document in "${documents[@]}"; do
  anchors[$document]=$'\n'$(headings "$document")$'\n'
done

for document in "${documents[@]}"; do
  folder=
  [[ $document != */* ]] || folder=${document%/*}
  while IFS=: read -r line text; do
    [[ $text == '|'* && $document =~ $long_tables ]] || refuse "$document:$line: longer than 120 characters"
  done < <(grep -nE '^.{121,}' "$document" || true)

  while IFS=: read -r line link; do
    [[ $link != *://* ]] || continue
    path=${link%%#*} file=$document
    [[ -z $path ]] || normalise "${folder:+$folder/}$path"
    if [[ ! -e $file ]]; then
      refuse "$document:$line: nothing at the link's end: $link"
    elif [[ $link == *'#'* && ${anchors[$file]-} != *$'\n'"${link#*#}"$'\n'* ]]; then
      refuse "$document:$line: no such heading: $link"
    fi
  done < <(prose "$document" | awk '{
    line = $0; sub(/:.*/, "", line)
    while (match($0, /\]\([^)]*\)/)) {
      print line ":" substr($0, RSTART + 2, RLENGTH - 3)
      $0 = substr($0, RSTART + RLENGTH)
    }
  }')
done

# Words in capitals stand for any name.
while IFS=: read -r document line path; do
  path=${path//\`/}
  [[ -e $path || $path =~ [A-Z]{2} ]] || refuse "$document:$line: no such file: $path"
done < <(grep -noE '`sim/[A-Za-z0-9_./-]+`' /dev/null "${documents[@]}" || true)

while read -r folder; do
  grep -qF "\`${folder#sim/}/\`" sim/README.md || refuse "sim/README.md: nothing about $folder/"
done < <(find sim -mindepth 2 -name '*.[ch]pp' -printf '%h\n' | sort -u)

echo "${#documents[@]} documents, $offences offences"
((offences == 0 && ${#documents[@]} > 0))
