// Finds a flat range by walking from the best value to both sides.
#include "sim/sweep/flatness.hpp"

namespace stepsim {

std::optional<FlatRange> flat_range(const std::vector<std::optional<double>>& values,
                                    const Objective& objective, double share) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] && (!best || objective.better(*values[i], *values[*best]))) best = i;
  if (!best) return std::nullopt;
  const double limit = *values[*best] * (objective.is_less_better ? 1 + share : 1 - share);
  const auto is_flat = [&](std::size_t i) {
    return values[i] && !objective.better(limit, *values[i]);
  };
  FlatRange range{*best, *best, *best};
  while (range.first > 0 && is_flat(range.first - 1)) --range.first;
  while (range.last + 1 < values.size() && is_flat(range.last + 1)) ++range.last;
  return range;
}

}  // namespace stepsim
