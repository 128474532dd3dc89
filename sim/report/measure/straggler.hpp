// Ranks that others wait for because they are slower than their peers: found in the timeline, not
// in what the scenario says.
#pragma once

#include <string>
#include <vector>

#include "sim/report/measure/metrics.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// The ranks that take longer for their own work (Timeline::paces) than the median rank of their
/// stage, by more than chance explains: by over 6 standard deviations, estimated from the median
/// deviation, and by over 0.1 % of a step. The latest come first. Where all ranks of a stage are
/// slow, none of them is a straggler.
std::vector<Straggler> stragglers_of(const Timeline& timeline);

/// The ranks of all stragglers, sorted.
std::vector<int> ranks_of(const std::vector<Straggler>& stragglers);

/// The sentence "rank 5 (node 0, GPU 5) is 50.0 ms a step late: ...". REQUIRES: there are
/// stragglers.
std::string straggler_sentence(const Metrics& metrics);

}  // namespace stepsim
