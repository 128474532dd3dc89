// Trees of YAML, flattened.
#include "sim/scenario/read/keys.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/problems.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/read/override.hpp"
#include "sim/scenario/read/tree.hpp"

namespace stepsim {
namespace {

bool has_maps(const Tree& list) { return std::ranges::any_of(list.items, &Tree::is_map); }

std::string text_of(const Tree& value) {
  if (value.kind != Tree::Kind::list) return value.scalar;
  std::vector<std::string> texts;
  for (const Tree& item : value.items) texts.push_back(text_of(item));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

void flatten(const Tree& tree, const std::string& path, std::vector<KeyValue>& keys) {
  if (tree.is_map()) {
    for (const Entry& entry : tree.entries)
      flatten(entry.value, path.empty() ? entry.key : path + "." + entry.key, keys);
  } else if (tree.kind == Tree::Kind::list && has_maps(tree)) {
    for (std::size_t i = 0; i < tree.items.size(); ++i)
      flatten(tree.items[i], fmt::format("{}[{}]", path, i), keys);
  } else {
    keys.push_back({path, text_of(tree)});
  }
}

void add_keys(const Tree& map, const std::string& above, std::set<std::string>& keys) {
  for (const Entry& entry : map.entries) {
    if (entry.value.kind == Tree::Kind::empty) continue;
    const std::string path = above + entry.key;
    keys.insert(path);
    if (entry.value.is_map()) add_keys(entry.value, path + ".", keys);
  }
}

}  // namespace

std::vector<KeyValue> keys_of(const Scenario& scenario) {
  return keys_of_yaml({"the scenario", "", to_yaml(scenario)});
}

std::vector<KeyValue> keys_of_yaml(const Source& text) {
  Problems problems;
  const auto tree = parse_tree(std::make_shared<Source>(text), "", problems);
  problems.throw_if_any();
  std::vector<KeyValue> keys;
  flatten(*tree, "", keys);
  return keys;
}

bool is_within(std::string_view key, std::string_view outer) {
  return key.starts_with(outer) &&
         (key.size() == outer.size() || key[outer.size()] == '.' || key[outer.size()] == '[');
}

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
