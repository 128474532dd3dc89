// What a bound needs to know of a schedule: which parts each stage holds, how many passes it has in
// flight, whether its backward is split, how often it reduces.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "sim/plan/schedule.hpp"

namespace stepsim {

/// What follows from a schedule and a shape of the pipeline.
struct ScheduleFacts {
  std::vector<std::vector<int>> parts;  ///< by stage, in order of chunk
  std::vector<int> stage;               ///< by part of the first copy
  /// by stage: most passes between forward and the backward that frees their activations
  std::vector<int> in_flight;
  std::vector<bool> last_in_flight;  ///< by stage: whether the last part is among its chunks
  bool splits = false;               ///< some backward pass is split
  bool all_split = false;            ///< every backward pass is split
  int reductions = 1;                ///< how often a chunk reduces in a step, without no_sync
};

/// Reads facts off schedules, and keeps them.
class FactsOfSchedules {
 public:
  const ScheduleFacts& of(const Schedule& schedule, const PipelineShape& shape);

 private:
  std::map<std::tuple<const Schedule*, int, int, int, bool>, ScheduleFacts> known_;
};

}  // namespace stepsim
