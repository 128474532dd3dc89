// Walks the JSON schema of scenarios, which the readers' own declarations make.
#include "sim/command/next_words.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "sim/command/list.hpp"
#include "sim/command/schema/schema_writer.hpp"

namespace stepsim {
namespace {

/// The schema, or each of those that it is any of.
void each_branch(const Json& schema, const std::function<void(const Json&)>& visit) {
  if (!schema.contains("anyOf")) return visit(schema);
  for (const Json& branch : schema["anyOf"]) each_branch(branch, visit);
}

/// Parts of the one schema, which lives as long as the program.
using Schemas = std::vector<const Json*>;

/// The schemas of the keys below these, by name; several where a key has several.
std::vector<std::pair<std::string, const Json*>> keys_below(const Schemas& schemas) {
  std::vector<std::pair<std::string, const Json*>> keys;
  for (const Json* schema : schemas)
    each_branch(*schema, [&](const Json& branch) {
      if (branch.contains("properties"))
        for (const auto& [name, below] : branch["properties"].items())
          keys.emplace_back(name, &below);
      // A map by names, as the products of a GPU by precision.
      if (branch.contains("propertyNames"))
        for (const Json& name : branch["propertyNames"].at("enum"))
          keys.emplace_back(name.get<std::string>(), &branch["additionalProperties"]);
    });
  return keys;
}

Schemas schemas_at(const std::string& path) {
  static const Json of_scenario = scenario_schema();
  Schemas schemas{&of_scenario};
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t dot = std::min(path.find('.', begin), path.size());
    const std::string key = path.substr(begin, dot - begin);
    Schemas below;
    for (const auto& [name, schema] : keys_below(schemas))
      if (name == key) below.push_back(schema);
    schemas = std::move(below);
    begin = dot + 1;
  }
  return schemas;
}

std::string meaning_of(const Json& schema) { return schema.value("description", ""); }

/// Whether a single value may stand there, not only a map.
bool may_be_value(const Json& schema) {
  bool found = false;
  each_branch(schema, [&](const Json& branch) {
    const Json type = branch.value("type", Json());
    const bool is_map = branch.contains("properties") || type == "object";
    found = found || (!is_map && type != "null");
  });
  return found;
}

void add_once(std::vector<NextWord>& found, NextWord one) {
  for (const NextWord& known : found)
    if (known.word == one.word) return;
  found.push_back(std::move(one));
}

std::vector<NextWord> next_words_of_key(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  const std::string outer = dot == std::string::npos ? "" : path.substr(0, dot + 1);
  std::vector<NextWord> found;
  for (const auto& [name, schema] : keys_below(schemas_at(outer))) {
    const std::string key = outer + name;
    if (!key.starts_with(path)) continue;
    if (!keys_below({schema}).empty()) add_once(found, {key + ".", meaning_of(*schema)});
    if (may_be_value(*schema)) add_once(found, {key + "=", meaning_of(*schema)});
  }
  return found;
}

std::vector<NextWord> words_of_value(const std::string& path) {
  std::vector<NextWord> found;
  for (const Json* schema : schemas_at(path)) {
    each_branch(*schema, [&](const Json& branch) {
      for (const Json& word : branch.value("enum", Json::array()))
        if (word.is_string()) add_once(found, {word.get<std::string>(), ""});
      if (branch.value("type", Json()) != "boolean") return;
      for (const char* word : {"true", "false"}) add_once(found, {word, ""});
    });
    for (const NextWord& name : names_pointed_to(meaning_of(*schema))) add_once(found, name);
  }
  return found;
}

}  // namespace

std::vector<NextWord> next_words_of_setting(const std::string& begun, bool has_lists) {
  const std::size_t equals = begun.find('=');
  const std::string keys = begun.substr(0, equals);
  const std::size_t comma = has_lists ? begun.rfind(',') : std::string::npos;
  // What stands before the part that is completed.
  std::size_t kept = equals == std::string::npos ? 0 : equals + 1;
  if (comma != std::string::npos) kept = std::max(kept, comma + 1);
  const std::string part = begun.substr(kept);
  const bool is_value = equals != std::string::npos;
  std::vector<NextWord> found;
  for (const NextWord& one : is_value ? words_of_value(keys) : next_words_of_key(part))
    if (one.word.starts_with(part))
      found.push_back({begun.substr(0, kept) + one.word, one.meaning});
  return found;
}

std::vector<NextWord> names_pointed_to(std::string_view description) {
  std::vector<NextWord> found;
  for (const std::string& listing : listings()) {
    const std::string folder = folder_of_listing(listing);
    const bool is_meant =
        description.find(fmt::format("`stepsim list {}`", listing)) != std::string_view::npos ||
        (!folder.empty() &&
         description.find(fmt::format("a name in {}/", folder)) != std::string_view::npos);
    if (!is_meant) continue;
    for (const std::string& name : names_of_listing(listing)) found.push_back({name, ""});
  }
  return found;
}

}  // namespace stepsim
