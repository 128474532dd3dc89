// Values as patterns, words and ranges of JSON schema.
#include "sim/command/schema/value_schema.hpp"

#include <charconv>
#include <cmath>

#include <fmt/ranges.h>

namespace stepsim {

Json any_of(const std::vector<Json>& schemas) {
  if (schemas.size() == 1) return schemas.front();
  return {{"anyOf", schemas}};
}

Json list_of(const Json& item, std::size_t length) {
  Json list{{"type", "array"}, {"items", item}};
  if (length > 0) list["minItems"] = list["maxItems"] = length;
  return list;
}

Json or_nothing(const Json& schema) { return any_of({schema, Json{{"type", "null"}}}); }

Json phrase_schema() {
  const Json expression{{"type", {"string", "number", "boolean"}}};
  const Json pairs{
      {"type", "object"},
      {"properties",
       {{"of", expression}, {"otherwise", expression}, {"values", {{"type", "object"}}}}},
      {"required", {"of", "values"}},
      {"additionalProperties", false}};
  return any_of({expression, pairs});
}

Json quantity_schema(const Dimension& dimension) {
  std::vector<std::string_view> names;
  for (const Unit& unit : dimension.units) names.push_back(unit.name);
  return {
      {"type", "string"},
      {"pattern", fmt::format("^ *[-+]?[0-9._]+([eE][-+]?[0-9]+)? *({})$", fmt::join(names, "|"))}};
}

Json number_schema(const Rules& rules, const char* type) {
  Json schema{{"type", type}};
  if (std::isfinite(rules.low))
    schema[rules.above_low ? "exclusiveMinimum" : "minimum"] = rules.low;
  if (std::isfinite(rules.high)) schema["maximum"] = rules.high;
  return schema;
}

Json words_schema(const std::vector<std::string>& words) {
  Json all = Json::array();
  for (const std::string& word : words) {
    all.push_back(word);
    // YAML takes NCCL's 2.30 for a number.
    double number = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
    if (read.ec == std::errc{} && read.ptr == word.data() + word.size()) all.push_back(number);
  }
  return {{"enum", all}};
}

}  // namespace stepsim
