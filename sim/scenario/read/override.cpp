// Applying overrides to a tree.
#include "sim/scenario/read/override.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/scenario/read/doc_writer.hpp"
#include "sim/scenario/read/number.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kLongestPath = 8;  // keys; the deepest key of a scenario has four

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> keys;
  std::size_t from = 0;
  for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', from)) {
    keys.push_back(path.substr(from, dot - from));
    from = dot + 1;
  }
  keys.push_back(path.substr(from));
  return keys;
}

/// The text of an override as one line.
std::string title_of(const Override& change) {
  const std::string text = quoted(change.path + "=" + change.value);
  return "--set " + text.substr(1, text.size() - 2);
}

/// For the keys of an override that come after it.
Tree opened_map(const Place& place) {
  Tree map = empty_map(place);
  map.is_opened = true;
  return map;
}

Entry& entry_of(Tree& map, const std::string& key, const Place& place) {
  if (Entry* entry = map.find(key)) return *entry;
  return map.entries.emplace_back(Entry{key, place, opened_map(place)});
}

/// A file is named there, and one key of what it has can be set.
bool names_a_file(const std::string& path) {
  static constexpr std::array kNamed{"cluster", "model", "cluster.gpu", "cluster.intra_node"};
  return std::ranges::find(kNamed, path) != kNamed.end();
}

/// Makes `kind: full` of `full`, where the map has a key that a value alone stands for.
void expand_shorthand(const std::string& path, Entry& entry) {
  const std::string key = shorthand_key(path);
  if (key.empty()) return;
  Tree map = empty_map(entry.value.place);
  map.entries.push_back({key, entry.key_place, std::move(entry.value)});
  entry.value = std::move(map);
}

std::optional<Tree> parsed_value(const std::shared_ptr<const Source>& source,
                                 const std::string& path, Problems& problems) {
  const bool is_comparison = source->text.starts_with('>');  // YAML would begin a folded text
  if (!is_comparison) return parse_tree(source, path, problems);
  return Tree{.kind = Tree::Kind::scalar, .scalar = source->text, .place = {source, 0, 0}};
}

}  // namespace

Override parse_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UserError(
        {Diagnostic{.message = fmt::format("{} is not an override", quoted(text)),
                    .proposal = "write \"path=value\", as in \"training.micro_batch=2\""}});
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void apply(const Override& change, Tree& scenario, Problems& problems) {
  const auto source = std::make_shared<Source>(Source{title_of(change), "", change.value, true});
  auto value = parsed_value(source, change.path, problems);
  if (value) set_value(change.path, std::move(*value), {source, 0, 0}, scenario, problems);
}

void set_value(const std::string& path, Tree value, const Place& place, Tree& scenario,
               Problems& problems) {
  const std::vector<std::string> keys = split(path);
  if (keys.size() > kLongestPath)
    return problems.add(place, path, "no key of a scenario is that deep");
  Tree* map = &scenario;
  std::string above;
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    Entry& entry = entry_of(*map, keys[i], place);
    above += (above.empty() ? "" : ".") + keys[i];
    if (entry.value.kind == Tree::Kind::empty) entry.value = opened_map(place);
    if (entry.value.kind == Tree::Kind::scalar && names_a_file(above))
      entry.value = based_on(std::move(entry.value));
    if (entry.value.kind == Tree::Kind::scalar) expand_shorthand(above, entry);
    if (!entry.value.is_map()) {
      return problems.add(
          place, above,
          fmt::format("{} is {} and has no keys", quoted(above), title_of(entry.value.kind)));
    }
    map = &entry.value;
  }
  Entry& entry = entry_of(*map, keys.back(), place);
  // A number says how many, of what stays as it is; a word is another kind, of which it may not.
  const std::string word = shorthand_key(path);
  const bool is_number = value.kind == Tree::Kind::scalar && number_if_any(value.scalar);
  if (!word.empty() && is_number && entry.value.is_map() && !entry.value.entries.empty())
    return set_value(path + "." + word, std::move(value), place, scenario, problems);
  entry.key_place = place;
  entry.value = std::move(value);
}

}  // namespace stepsim
