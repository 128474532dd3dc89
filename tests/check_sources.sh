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

# Two types of one name in one namespace are undefined behaviour, of which no compiler tells: members of
# one are called for the other.
doubled=$(find sim calib validate tests -name '*.hpp' | LC_ALL=C sort | xargs awk '
  FNR == 1 { space = "" }
  /^namespace [a-z_:0-9]+ \{/ { space = $2 }
  /^(struct|class|enum class) [A-Za-z0-9]+.*\{/ {
    name = space "::" ($2 == "class" ? $3 : $2)
    if (name in file) print name ": " file[name] " and " FILENAME
    file[name] = FILENAME
  }')
[[ -z $doubled ]] || { echo "two types of one name:"; echo "$doubled"; exit 1; }
