// Eight shades of one sequence.
#include "sim/report/sweep/sweep_shade.hpp"

#include <array>
#include <limits>

#include <fmt/format.h>

namespace stepsim {
namespace {

/// Eight samples of viridis (Smith and van der Walt 2015, bids.github.io/colormap), in which
/// lightness alone tells the order, also to the colour-blind and in grey. Shares in steps of about
/// 1, 2, 5: what is within 1 % is as good as the best.
constexpr std::array kShades{
    Shade{0.01, "#fde725"},       Shade{0.02, "#a0da39"},
    Shade{0.05, "#4ac16d"},       Shade{0.1, "#1fa187"},
    Shade{0.2, "#277f8e", false}, Shade{0.5, "#365c8d", false},
    Shade{1, "#46327e", false},   Shade{std::numeric_limits<double>::infinity(), "#440154", false}};

}  // namespace

std::span<const Shade> shades() { return kShades; }

std::size_t shade_of(double value, double best, bool is_less_better) {
  const double worse = is_less_better ? value / best - 1 : 1 - value / best;
  std::size_t i = 0;
  while (i + 1 < kShades.size() && worse > kShades[i].most * (1 + 1e-9)) ++i;
  return i;
}

std::string range_of_shade(std::size_t shade) {
  if (shade == 0) return fmt::format("within {:.0f} %", kShades[0].most * 100);
  const double from = kShades[shade - 1].most * 100;
  if (shade + 1 == kShades.size()) return fmt::format("over {:.0f} %", from);
  return fmt::format("{:.0f} to {:.0f} %", from, kShades[shade].most * 100);
}

}  // namespace stepsim
