// What a bound needs to know of a schedule: which parts each stage holds, how many passes it has in
// flight, whether its backward is split, how often it reduces.
#pragma once

#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "sim/plan/schedule.hpp"

namespace stepsim {

struct ScheduleFacts {
  std::vector<std::vector<int>> parts;  ///< by stage, in order of chunk
  std::vector<int> stage;               ///< by part of the first copy
  std::vector<int> in_flight;           ///< by stage: passes between forward and the backward that
                                        ///< frees their activations, at most
  std::vector<bool> last_in_flight;     ///< by stage: whether the last part is among its chunks
  bool splits = false;                  ///< some backward pass is
  bool all_split = false;               ///< and all are
  int reductions = 1;                   ///< of a chunk in a step, without no_sync
};

class FactsOfSchedules {
 public:
  const ScheduleFacts& of(const Schedule& schedule, const PipelineShape& shape);

 private:
  std::map<std::tuple<const Schedule*, int, int, int, bool>, ScheduleFacts> known_;
};

}  // namespace stepsim
