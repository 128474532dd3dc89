#!/bin/bash
# Sources that are compiled as one file (docs/decisions/017-sources-compiled-together.md) keep their own
# names to themselves: what one defines in its unnamed namespace is no word of the others, which would
# not compile, or would call it in place of what they mean.
set -euo pipefail
root=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}

# One line for each pair of quotes in a CMakeLists.txt that holds sources.
groups() { tr '\n' ' ' <"$1" | awk -F'"' '{ for (i = 2; i <= NF; i += 2) if ($i ~ /\.cpp +[^ ]/) print $i }'; }

# Of the sources of one group: "a.cpp: name is a word of b.cpp".
clashes() {
  awk '
    function own(line,   name) {
      sub(/^template <[^>]*> */, "", line)
      if (match(line, /^(struct|class|enum class|using) +[A-Za-z_0-9]+( +=)?/)) {
        if (line ~ /^using/ && substr(line, RSTART, RLENGTH) !~ /=$/) return
        name = substr(line, RSTART, RLENGTH)
        sub(/ +=$/, "", name)
        sub(/.* /, "", name)
        mine[FILENAME, name]
        return
      }
      if (line ~ /^namespace / || !match(line, /[ &*][A-Za-z_][A-Za-z0-9_]*( *=|[({;[])/)) return
      name = substr(line, RSTART + 1, RLENGTH - 1)
      sub(/[^A-Za-z0-9_].*/, "", name)
      mine[FILENAME, name]
    }
    function words(line,   word, before) {
      while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) {
        word = substr(line, RSTART, RLENGTH)
        if (last substr(line, 1, RSTART - 1) !~ /(\.|->|::)$/) uses[word] = uses[word] SUBSEP FILENAME
        last = ""
        line = substr(line, RSTART + RLENGTH)
      }
    }
    FNR == 1 { inside = raw = 0 }
    raw { if (/\)[a-z]*"/) raw = 0; next }
    /R"[a-z]*\(/ && !/\)[a-z]*"/ { raw = 1 }
    /^}  \/\/ namespace$/ { inside = 0 }
    { sub(/\/\/.*/, ""); gsub(/"([^"\\]|\\.)*"/, "\"\"") }
    /^#include/ { next }
    inside && /^[A-Za-z]/ { own($0) }
    /^namespace \{/ { inside = 1 }
    { words($0) }
    END {
      for (key in mine) {
        split(key, part, SUBSEP)
        count = split(uses[part[2]], files, SUBSEP)
        for (i = 2; i <= count; ++i)
          if (files[i] != part[1] && !said[key, files[i]]++)
            print part[1] ": " part[2] " is a word of " files[i]
      }
    }' "$@"
}

found=$(for room in sim tests; do
  while read -ra sources; do (cd "$root/$room" && clashes "${sources[@]}"); done < <(groups "$root/$room/CMakeLists.txt")
done | LC_ALL=C sort)
[[ -z $found ]] || { echo "$found"; exit 1; }
