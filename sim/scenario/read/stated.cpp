// The keys of a tree.
#include "sim/scenario/read/stated.hpp"

#include "sim/scenario/read/override.hpp"
#include "sim/scenario/read/tree.hpp"

namespace stepsim {
namespace {

void add_keys(const Tree& map, const std::string& above, std::set<std::string>& keys) {
  for (const Entry& entry : map.entries) {
    if (entry.value.kind == Tree::Kind::empty) continue;
    const std::string path = above + entry.key;
    keys.insert(path);
    if (entry.value.is_map()) add_keys(entry.value, path + ".", keys);
  }
}

}  // namespace

std::set<std::string> stated_keys(const std::string& path, const std::vector<Override>& overrides) {
  Problems problems;
  auto tree = parse_tree(read_source(path), "", problems);
  problems.throw_if_any();
  for (const Override& change : overrides) apply(change, *tree, problems);
  problems.throw_if_any();
  std::set<std::string> keys;
  add_keys(*tree, "", keys);
  return keys;
}

}  // namespace stepsim
