// Which ranks' spans a simulation keeps where those of all would not go into memory.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "sim/plan/fold.hpp"
#include "sim/plan/plan.hpp"

namespace stepsim {

/// The representatives of `classes` that are recorded, by their ranks. All of them where their tasks
/// are at most `most`. Otherwise one of each program, the classes of the ranks that are `wanted`,
/// and others at equal distances, until there are so many tasks.
std::map<int, const FoldedRank*> recorded_ranks(const Plan& plan,
                                                const std::vector<FoldedRank>& classes,
                                                const std::vector<int>& wanted, std::size_t most);

}  // namespace stepsim
