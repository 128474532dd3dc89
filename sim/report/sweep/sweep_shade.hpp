// Colours for how much worse a point is than the best.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace stepsim {

struct Shade {
  double most = 0;  ///< worse by at most this share; infinite for the last shade
  const char* colour = "";
  bool dark_words = true;  ///< whether dark words are legible on it; else light ones are
};
/// The shades, from what is as good as the best to what is far worse.
std::span<const Shade> shades();

/// The index of the shade that a value has.
std::size_t shade_of(double value, double best, bool is_less_better);
/// "within 1 %", "2 to 5 %", "over 100 %".
std::string range_of_shade(std::size_t shade);

}  // namespace stepsim
