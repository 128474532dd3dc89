// Which ranks' spans a simulation keeps where those of all would not go into memory.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "sim/plan/fold.hpp"
#include "sim/plan/plan.hpp"

namespace stepsim {

struct RecordedRank {
  const FoldedRank* rank = nullptr;
  double weight = 0;  ///< RankTimeline::weight
};

/// The representatives of `classes` that are recorded, by their ranks. All of them where their tasks
/// are at most `most`. Otherwise one of each program, and others at equal distances, until there are
/// so many tasks; these speak for all ranks of their programs. The classes of ranks that are
/// `wanted` come on top, and speak for nobody.
std::map<int, RecordedRank> recorded_ranks(const Plan& plan, const std::vector<FoldedRank>& classes,
                                           const std::vector<int>& wanted, std::size_t most);

}  // namespace stepsim
