// What the stages of a pipeline take for their passes and keep of them: sums over the blocks of
// their parts, with what is computed again.
#pragma once

#include <vector>

#include "sim/search/block_costs.hpp"
#include "sim/search/schedule_facts.hpp"
#include "sim/search/stage_finish_times.hpp"
#include "sim/search/strategy.hpp"

namespace stepsim {

/// What a micro-batch costs one stage, through all of its chunks: seconds and bytes.
struct StageCost {
  double forward = 0, backward = 0;
  double input = 0;                ///< the part of backward that the stage before waits for
  double wait = 0;                 ///< transfers that the compute row waits for
  double idle = 0;                 ///< the part of `wait` that nothing else can fill
  double launches = 0;             ///< the host's
  double fill = 0;                 ///< until the first micro-batch arrives
  double drain = 0;                ///< from its last gradient to the gradient of the model's input
  double first_chunk = 0;          ///< the backward pass that ends the step
  double gather = 0, scatter = 0;  ///< sharded parameters: seconds on the links
  double saved = 0;                ///< bytes of a chunk's pass in flight, at least
  double above = 0;                ///< bytes of a backward pass on top of that, at least
  double dense = 0, experts = 0;   ///< parameters that are trained
  double frozen = 0;               ///< bytes of parameters that are not trained, whole
  double chunk_dense = 0, chunk_experts = 0;  ///< trained parameters of the first chunk
};

/// Costs by stage. `shapes` has the strategy's groups; the scenario has the strategy.
std::vector<StageCost> stage_costs(const Scenario& scenario, const Strategy& strategy,
                                   const ModelCosts& model, const ScheduleFacts& facts,
                                   const SplitShapes& shapes);

/// Times by part of the model. REQUIRES: as stage_costs.
std::vector<PartTimes> part_times(const Scenario& scenario, const Strategy& strategy,
                                  const ModelCosts& model, const ScheduleFacts& facts,
                                  const SplitShapes& shapes);

}  // namespace stepsim
