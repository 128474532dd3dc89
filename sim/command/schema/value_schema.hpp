// JSON schemas of single values: what YAML makes of a text that the reader takes.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/scenario/read/range.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {

using Json = nlohmann::ordered_json;

Json any_of(const std::vector<Json>& schemas);
/// A list; of exactly `length` items unless that is 0.
Json list_of(const Json& item, std::size_t length);
/// The schema, or null: a section that is empty reads like one that is absent.
Json or_nothing(const Json& schema);
/// An expression over the columns of a suite, or {of, values, otherwise}.
Json phrase_schema();

/// A text of a number and one of the units.
Json quantity_schema(const Dimension& dimension);
/// A number within the rules, as numbers and in per cent.
Json number_schema(const Rules& rules, const char* type);
Json words_schema(const std::vector<std::string>& words);

/// Any text: YAML has numbers and switches of its own.
inline Json value_schema(const std::string&, const Rules&) {
  return {{"type", {"string", "number", "boolean"}}};
}
template <std::same_as<bool> T>
Json value_schema(T, const Rules&) {
  return {{"type", "boolean"}};
}
Json value_schema(Integer auto, const Rules& rules) { return number_schema(rules, "integer"); }
inline Json value_schema(double, const Rules& rules) {
  return any_of({number_schema(rules, "number"),
                 Json{{"type", "string"}, {"pattern", "^[-+0-9._eE]+ *%?$"}}});
}
template <int S, int B, int F>
Json value_schema(Quantity<S, B, F> value, const Rules&) {
  return quantity_schema(dimension_of(value));
}
template <Named E>
Json value_schema(E, const Rules&) {
  return words_schema(names_of<E>());
}
inline Json value_schema(const Sharding&, const Rules&) {
  return words_schema(Registry<Sharding>::names());
}
template <class T>
Json value_schema(const Extent<T>&, const Rules&) {
  return {{"type", "string"}, {"pattern", "^[^ ].* to [^ ]"}};
}
/// What reads a text of its own: a time or a rate, a price, a power, a horizon, an order of ranks.
template <class T>
requires std::same_as<T, SampleTime> || std::same_as<T, GpuPrice> || std::same_as<T, Watts> ||
    std::same_as<T, CarbonIntensity> || std::same_as<T, Horizon> || std::same_as<T, RankOrder>
        Json value_schema(const T&, const Rules&) {
  return {{"type", "string"}};
}

}  // namespace stepsim
