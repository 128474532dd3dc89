#!/bin/bash
# Checks sim/batches.awk: sources that would take a name from each other must not be compiled as one file.
set -euo pipefail
awk_script=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/sim/batches.awk
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"

expect() {  # SIZE EXPECTED SOURCE...
  local found
  found=$(awk -v size="$1" -v root="$tree/" -f "$awk_script" "${@:3}")
  [[ $found == "$2" ]] || { printf 'expected:\n%s\nfound:\n%s\n' "$2" "$found"; exit 1; }
}

cat >a.cpp <<'EOF'
#include "sim/core/trim.hpp"
namespace stepsim {
namespace {

// trimmed is a word, and so is "other_text".
std::string_view own_text(std::string_view text) { return text; }
constexpr int kOwn = 1, kSecond = 2;
using Own = int;

}  // namespace

int answer() { return kOwn; }

}  // namespace stepsim
EOF
cat >b.cpp <<'EOF'
namespace stepsim {
int other(const Thing& thing) { return thing.own_text() + thing->kOwn + answer(); }  // own_text
}  // namespace stepsim
EOF
echo 'int more() { return 1; }' >c.cpp
expect 12 'a.cpp b.cpp c.cpp' a.cpp b.cpp c.cpp
expect 2 'a.cpp b.cpp' a.cpp b.cpp c.cpp
expect 1 '' a.cpp b.cpp c.cpp

# Each kind of private name, used by another source or defined in both.
for word in 'own_text("")' kOwn kSecond 'Own(1)'; do
  echo "int used() { return $word; }" >d.cpp
  expect 12 'a.cpp c.cpp' a.cpp d.cpp c.cpp
  expect 12 'd.cpp c.cpp' d.cpp a.cpp c.cpp
done
cp a.cpp e.cpp
expect 12 'a.cpp c.cpp' a.cpp e.cpp c.cpp

# A name that is fetched from another namespace.
printf 'using nlohmann::json;\n' >f.cpp
echo 'int used() { int json = 1; return json; }' >g.cpp
expect 12 'f.cpp c.cpp' f.cpp g.cpp c.cpp

# A private name that is a type or a constant of a header that another source reads, itself or through another header:
# it may be read behind the source.
echo '#include "own.hpp"' >through.hpp
for line in 'struct Own {};' 'struct Own;' 'inline constexpr std::array kOwn<int> = {1};'; do
  echo "$line" >own.hpp
  expect 12 'a.cpp b.cpp c.cpp' "$tree"/own.hpp "$tree"/through.hpp a.cpp b.cpp c.cpp
  for header in own through; do
    { echo "#include \"$header.hpp\""; cat b.cpp; } >h.cpp
    expect 12 'a.cpp c.cpp' "$tree"/own.hpp "$tree"/through.hpp a.cpp h.cpp c.cpp
    expect 12 'h.cpp c.cpp' "$tree"/own.hpp "$tree"/through.hpp h.cpp a.cpp c.cpp
  done
done

# What a full batch leaves is dealt out, as far as nobody minds.
for name in i j k; do cp c.cpp $name.cpp; done
expect 3 'c.cpp i.cpp j.cpp k.cpp' c.cpp i.cpp j.cpp k.cpp
expect 3 'a.cpp c.cpp i.cpp' a.cpp c.cpp i.cpp e.cpp
