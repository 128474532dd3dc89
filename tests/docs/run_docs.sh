#!/bin/bash
# Runs the commands that the documents show. Usage: run_docs.sh BUILD_FOLDER [DOCUMENT...]
#
# In every block fenced as ```console, a line that starts with `$ ` is a command; it goes on over
# lines that end in a backslash. It has to exit with 0, or with N if the next line is `# exit N`.
# The lines after it, if there are any, are all it prints; in them `...` stands for any text, and a
# line `...` for any number of lines. Each command starts anew in a copy of the repository that its
# document has for itself: what it writes is there for the next one, and gone in the end.
#
# A block with a path after its language (```yaml mine.yaml) is that file: it must equal the one in
# the copy, or, where there is none, it is written for the commands below it.
#
# `./dev X` runs the program as it is built; what builds or tests by itself (`./dev test`) is not
# run from here.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd)
documents=("${@:2}")
((${#documents[@]})) || mapfile -t documents < <(find "$root" -name '*.md' -not -path "$root/build*" | sort)
own_words=$("$root/dev" help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -vxE 'run|help' | paste -sd'|')
# Commands print what they print for everybody, whatever this shell has set.
unset "${!STEPSIM_@}"
export LC_ALL=C.UTF-8 TZ=UTC

scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

# Names what a copy is made of, each with a NUL behind it: the files that git knows, so that what
# somebody has tried in this tree (results beside a scenario, a profile of this machine) changes
# nothing; where git knows none, all.
tree_files() {
  git -C "$root" -c safe.directory='*' ls-files -z 2>/dev/null | grep -z . ||
    (cd "$root" && find . \( -path './build*' -o -path ./.git \) -prune -o \( -type f -o -type l \) -print0)
}

# A tree of its own for each document; a file that git knows may have been removed.
copy_tree() {
  copy=$scratch/$((++copies))
  mkdir "$copy"
  tree_files | tar -C "$root" --ignore-failed-read --null -T - -c 2>/dev/null | tar -C "$copy" -x
  chmod -R u+w "$copy"
  ln -s "$build" "$copy/build"
}

copies=0 copy=''
commands=0 failures=0

# matches TEXT EXPECTED: EXPECTED becomes a shell pattern, in which a line `...` takes its own end.
matches() {
  local pattern
  pattern=$(sed -E 's/[][\\*?()|!+@]/\\&/g; s/[[:space:]]+$//; s/\.\.\./*/g' <<<"$2")
  pattern=$'\n'$pattern$'\n'
  # shellcheck disable=SC2053  # a pattern on purpose
  [[ $'\n'$1$'\n' == ${pattern//$'\n*\n'/$'\n*'} ]]
}

# run PLACE COMMAND EXIT_CODE EXPECTED
run() {
  local place=${1#"$root/"} code=0 printed
  [[ ! $2 =~ ^\./dev\ ($own_words)( |$) ]] || return 0
  commands=$((commands + 1))
  printed=$(cd "$copy" && timeout 300 bash -c "${2//.\/dev /build/stepsim }" 2>&1 </dev/null) || code=$?
  printed=$(sed -E 's/[[:space:]]+$//' <<<"$printed")
  # shellcheck disable=SC2016  # the back quotes are for the reader
  if ((code != $3)); then
    printf '%s: `%s` exits with %d instead of %d\n%s\n' "$place" "$2" "$code" "$3" "$printed"
  elif [[ -n $4 ]] && ! matches "$printed" "${4%$'\n'}"; then
    printf '%s: `%s` prints something else:\n' "$place" "$2"
    diff -u --label document <(echo "${4%$'\n'}") --label program <(echo "$printed") || true
  else
    return 0
  fi
  failures=$((failures + 1))
}

# shown_file PLACE PATH TEXT
shown_file() {
  if [[ ! -e $copy/$2 || -v written[$2] ]]; then
    printf '%s' "$3" >"$copy/$2"
    written[$2]=1
  elif ! diff -u --label "$1" --label "$2" <(printf '%s' "$3") "$copy/$2"; then
    failures=$((failures + 1))
  fi
}

run_document() {
  local line number=0 fence='' command='' place code expected path text
  local -A written=()
  copy_tree
  finish() {
    [[ -z $command ]] || run "$place" "$command" "$code" "$expected"
    command='' code=0 expected=''
  }
  while IFS= read -r line <&3; do
    number=$((number + 1))
    if [[ -z $fence ]]; then
      path='' text=''
      if [[ $line =~ ^(\ *'```')console$ ]]; then
        fence=${BASH_REMATCH[1]} command=''
      elif [[ $line =~ ^'```'[a-z]+\ ([^ ]+)$ ]]; then
        fence='```' path=${BASH_REMATCH[1]} place=$1:$number
      fi
      continue
    fi
    line=${line#"${fence%'```'}"}
    if [[ $line == '```' ]]; then
      if [[ -n $path ]]; then shown_file "$place" "$path" "$text"; else finish; fi
      fence=''
    elif [[ -n $path ]]; then
      text+=$line$'\n'
    elif [[ $command == *\\ ]]; then
      command+=$'\n'$line
    elif [[ $line == '$ '* ]]; then
      finish
      command=${line#'$ '} place=$1:$number
    elif [[ -z $expected && $line =~ ^'# exit '([0-9]+)$ ]]; then
      code=${BASH_REMATCH[1]}
    else
      expected+=$line$'\n'
    fi
  done 3<"$1"
}

for document in "${documents[@]}"; do
  run_document "$document"
done
echo "$commands commands in ${#documents[@]} documents, $failures failed"
((failures == 0)) && { ((commands > 0)) || [[ ! -e $root/README.md ]]; }
