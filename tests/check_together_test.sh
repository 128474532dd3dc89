#!/bin/bash
# Checks the checker: of two sources in one pair of quotes it must name what one would take from the other.
set -euo pipefail
check=$(dirname "${BASH_SOURCE[0]}")/check_together.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree"/{sim,tests}
cat >"$tree/sim/CMakeLists.txt" <<'EOF'
add_room(core LINK Boost::headers SOURCES
  "core/a.cpp
   core/b.cpp"
  core/alone.cpp
)
set_source_files_properties(core/alone.cpp PROPERTIES COMPILE_DEFINITIONS DIR="${CMAKE_SOURCE_DIR}")
EOF
: >"$tree/tests/CMakeLists.txt"
mkdir "$tree/sim/core"
cat >"$tree/sim/core/a.cpp" <<'EOF'
#include "sim/core/trim.hpp"
namespace stepsim {
namespace {

// trimmed is a word, and so is "other_text".
std::string_view own_text(std::string_view text) { return text; }
constexpr int kOwn = 1;
using Own = int;

}  // namespace

int answer() { return kOwn; }

}  // namespace stepsim
EOF
cat >"$tree/sim/core/b.cpp" <<'EOF'
namespace stepsim {
int other(const Thing& thing) { return thing.own_text() + thing->kOwn + answer(); }  // own_text
}  // namespace stepsim
EOF
echo 'int kOwn = own_text(1);' >"$tree/sim/core/alone.cpp"
"$check" "$tree" || { echo "a correct tree was refused"; exit 1; }

echo 'int more() { return Own(own_text(kOwn)); }' >>"$tree/sim/core/b.cpp"
expected='core/a.cpp: Own is a word of core/b.cpp
core/a.cpp: kOwn is a word of core/b.cpp
core/a.cpp: own_text is a word of core/b.cpp'
found=$("$check" "$tree") && { echo "a wrong tree was accepted"; exit 1; }
[[ $found == "$expected" ]] || { echo "expected:"; echo "$expected"; echo "found:"; echo "$found"; exit 1; }
