// How much it matters to hit the optimum: the neighbours of the best value that are as good.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/sweep/objective.hpp"

namespace stepsim {

/// A difference that nobody would notice.
inline constexpr double kFlat = 0.01;

/// From the first to the last of the neighbours, the best among them.
struct FlatRange {
  std::size_t best = 0, first = 0, last = 0;
};

/// `values`: the objective along an axis whose values rise; nothing for points without one. The
/// range holds the best value (the first of equal ones) and all next to it, without a gap, that are
/// worse by at most `share`. Nothing where no point has a value.
std::optional<FlatRange> flat_range(const std::vector<std::optional<double>>& values,
                                    const Objective& objective, double share = kFlat);

}  // namespace stepsim
