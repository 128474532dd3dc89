// How much it matters to hit the optimum: how many neighbours of the best value are as good.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/sweep/objective.hpp"

namespace stepsim {

/// A share by which a value may be worse without anybody noticing, by judgement.
inline constexpr double kFlat = 0.01;

/// The neighbours that are as good as the best: from the first to the last of them.
struct FlatRange {
  std::size_t best = 0, first = 0, last = 0;
};

/// The flat range around the best of `values`: the objective along an axis whose values rise;
/// nothing for points without one. The range holds the best value (the first of equal ones) and all
/// next to it, without a gap, that are worse by at most `share`. Absent where no point has a value.
std::optional<FlatRange> flat_range(const std::vector<std::optional<double>>& values,
                                    const Objective& objective, double share = kFlat);

}  // namespace stepsim
