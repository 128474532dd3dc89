// JSON of values: numbers in base SI units, with the digits that machines read, and lists.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/core/quantity.hpp"
#include "sim/text/digits.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

using Json = nlohmann::ordered_json;

/// A number; null when it is not finite.
inline Json number(double value) {
  const std::string text = digits(value);
  if (text.empty()) return nullptr;
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

/// A size in bytes: a whole number wherever a reader may count on that.
inline Json number(Bytes size) {
  const double bytes = size.bytes();
  if (!std::isfinite(bytes) || std::abs(bytes) > 0x1p53) return number(bytes);
  return std::llround(bytes);
}

inline Json number(Seconds time) { return number(time.seconds()); }

/// null where there is none.
template <class Value>
Json number(const std::optional<Value>& value) {
  return value ? number(*value) : Json();
}

/// null where the text is empty.
inline Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// What `json_of` makes of each item, in their order.
template <class Items, class JsonOf>
Json list_json(const Items& items, const JsonOf& json_of) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(json_of(item));
  return list;
}

/// A map from the first of each pair to what `json_of` makes of the second.
template <class Pairs, class JsonOf>
Json map_json(const Pairs& pairs, const JsonOf& json_of) {
  Json map = Json::object();
  for (const auto& [key, value] : pairs) map[key] = json_of(value);
  return map;
}
inline Json map_json(const std::vector<std::pair<std::string, std::string>>& texts) {
  return map_json(texts, [](const std::string& text) { return text; });
}

/// A whole document. A name in a scenario may hold bytes that are not UTF-8; they do not stop a
/// result from being written.
inline std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

inline Json seconds_json(const std::vector<Seconds>& times) {
  return list_json(times, [](Seconds time) { return number(time); });
}

inline Json causes_json(const CauseSeconds& seconds) {
  Json causes = Json::object();
  for (std::size_t i = 0; i < kCauses; ++i)
    causes[name_of(static_cast<Cause>(i))] = number(seconds[i]);
  return causes;
}

}  // namespace stepsim
