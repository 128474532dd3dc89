#!/bin/bash
# Checks that every source is built: one that CMake does not list would be dropped without a word.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2

# Every word of a CMakeLists.txt that ends as a source does, as a path from the root.
listed() {
  find sim calib tests validate -name CMakeLists.txt -exec grep -oHE '[A-Za-z0-9_/.-]+\.(cpp|cu)\b' {} + |
    sed -E 's|CMakeLists.txt:||'
}

unlisted=$(comm -23 <(find sim calib tests validate \( -name '*.cpp' -o -name '*.cu' \) | LC_ALL=C sort) \
  <(listed | LC_ALL=C sort -u))
[[ -n $(listed) && -z $unlisted ]] || { echo "no CMakeLists.txt lists:"; echo "$unlisted"; exit 1; }
