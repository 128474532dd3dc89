// What a key's value must be, apart from its type: required, and in which range.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include <fmt/format.h>

namespace stepsim {

struct Rules {
  bool is_required = false;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;  ///< low itself is too low
  std::size_t length = 0;  ///< length that a list has to have; 0: any

  bool admits(double value) const {
    return (above_low ? value > low : value >= low) && value <= high;
  }

  /// "greater than 0", "between 1 and 64"; "" when everything is admitted. `shown` writes a limit.
  template <class Shown>
  std::string text(const Shown& shown) const {
    const bool has_low = low > -std::numeric_limits<double>::infinity();
    const bool has_high = high < std::numeric_limits<double>::infinity();
    if (has_low && has_high && !above_low)
      return fmt::format("between {} and {}", shown(low), shown(high));
    std::string sentence;
    if (has_low)
      sentence = fmt::format("{} {}", above_low ? "greater than" : "at least", shown(low));
    if (has_high) sentence += fmt::format("{}at most {}", has_low ? " and " : "", shown(high));
    return sentence;
  }
};

inline constexpr Rules any{};
inline constexpr Rules positive{.low = 0, .above_low = true};
inline constexpr Rules non_negative{.low = 0};
inline constexpr Rules any_fraction{.low = 0, .high = 1, .above_low = true};  ///< an efficiency
inline constexpr Rules any_share{.low = 0, .high = 1};
constexpr Rules between(double low, double high) { return {.low = low, .high = high}; }
/// The rules of a list with so many values, each within the limits of `rules`.
constexpr Rules of_length(std::size_t length, Rules rules = any) {
  rules.is_required = true;
  rules.length = length;
  return rules;
}
constexpr Rules required(Rules rules = any) {
  rules.is_required = true;
  return rules;
}

// Bounds in base units (B/s, s) outside which a number is a slip of the pen.
inline constexpr Rules any_rate = between(1e3, 1e18);
inline constexpr Rules any_duration = between(0, 1e6);
inline constexpr Rules any_compute_rate = between(1e6, 1e21);  // FLOP/s

// Bounds of a kernel's model. A kernel that takes a thousand times what another takes for the same
// work has another cause than its constants, and products of such constants must stay finite.
inline constexpr Rules any_ratio = between(1e-3, 1e3);
inline constexpr Rules ratio_or_none = between(0, 1e3);
inline constexpr Rules any_efficiency = between(1e-3, 1);
inline constexpr Rules any_extent = between(0, 1e6);  // elements, rows or tokens
/// Logarithms of measured over modelled time: a model that is tenfold off is none (ln 10 = 2.3; the
/// largest of the profiles in calib/gpus/ is 0.54).
inline constexpr Rules any_log_ratio = between(-2.3, 2.3);

// Bounds that no real run reaches; inside them, products of dimensions fit in 64 bits and GPU
// counts in an int.
inline constexpr Rules any_count = between(1, 1e6);
inline constexpr Rules large_count = between(1, 1e9);

}  // namespace stepsim
