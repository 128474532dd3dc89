// A part of a timeline: some of its ranks, some of its steps.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// Steps from the first to the last, both among them.
struct StepRange {
  std::size_t first = 0, last = 0;
};

struct TimelineChoice {
  std::vector<int> ranks{};          ///< global ranks; empty: all that were simulated
  std::optional<StepRange> steps{};  ///< absent: all
  bool is_all() const { return ranks.empty() && !steps; }
};

/// The ranks of the timeline that are one of those, or stand for one of them; and of these the
/// spans that belong to the steps or lie in their time, with the memory of that time. Spans that
/// waited for one that is left out wait for nothing. What the timeline says of steps stays whole.
Timeline chosen(const Timeline& timeline, const TimelineChoice& choice);

}  // namespace stepsim
