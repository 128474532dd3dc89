// Numbers as machines read them: twelve significant digits, the same bytes in every locale.
//
// Twelve digits are more than the simulation means (times compare within 1e-9) and fewer than
// rounding noise reaches, so that results of different compilers are equal text.
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

namespace stepsim {

/// The number's text; empty when it is not finite.
inline std::string digits(double value) {
  return std::isfinite(value) ? fmt::format("{:.12g}", value == 0 ? 0.0 : value) : std::string{};
}

}  // namespace stepsim
