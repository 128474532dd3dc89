// When the stages of a pipeline are done with their passes, at the earliest.
//
// Each stage runs its passes in the order of its schedule; those that exchange together begin when
// the inputs of all have come, and their results leave when all are done (plan/passes.hpp). Passes
// take what their kernels take, results what one message takes on an idle link: whatever else a
// step waits for makes it longer.
#pragma once

#include <vector>

#include "sim/plan/schedule.hpp"
#include "sim/search/block_costs.hpp"

namespace stepsim {

/// Seconds of one micro-batch through a part of the model.
struct PartTimes {
  double forward = 0, backward = 0, input_gradient = 0, weight_gradient = 0;
  LastWaits waits;  ///< what passes wait for at their ends, in these times
  double hop = 0;   ///< a message to the next part or back
};

/// Finish times by stage, in seconds after the first pass may begin. Empty: the stages wait for
/// each other.
std::vector<double> stage_finish_times(const Schedule& schedule, const PipelineShape& shape,
                                       const Pipeline& pipeline,
                                       const std::vector<PartTimes>& parts);

}  // namespace stepsim
