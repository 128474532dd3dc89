// Quantities as JSON numbers: base SI units, with the digits that machines read.
#pragma once

#include <charconv>
#include <cmath>

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

inline Json causes_json(const CauseSeconds& seconds) {
  Json causes = Json::object();
  for (std::size_t i = 0; i < kCauses; ++i)
    causes[name_of(static_cast<Cause>(i))] = number(seconds[i]);
  return causes;
}

}  // namespace stepsim
