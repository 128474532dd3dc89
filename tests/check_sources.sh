#!/bin/bash
# Checks that every source is built: one that CMake does not list would be dropped without a word.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2

unlisted=0
for folder in sim calib/harness calib/cuda calib/cpu tests validate; do
  while read -r source; do
    grep -qF "$source" "$folder/CMakeLists.txt" ||
      { echo "$folder/$source: not listed in $folder/CMakeLists.txt"; unlisted=$((unlisted + 1)); }
  done < <(cd "$folder" && find . \( -name '*.cpp' -o -name '*.cu' \) -printf '%P\n')
done
((unlisted == 0))
