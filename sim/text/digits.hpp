// Numbers as machines read them: twelve significant digits, the same bytes in every locale.
//
// Twelve digits are more than the simulation means (times compare within 1e-9) and fewer than
// rounding noise reaches, so that results of different compilers are equal text. Noise in the
// differences of dates reaches further up: below one there are twelve decimals, a picosecond.
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

namespace stepsim {

/// The text of a number; empty when the number is not finite.
inline std::string digits(double value) {
  if (!std::isfinite(value)) return {};
  const double sound = std::abs(value) < 1 ? std::round(value * 1e12) / 1e12 : value;
  return fmt::format("{:.12g}", sound == 0 ? 0.0 : sound);
}

}  // namespace stepsim
