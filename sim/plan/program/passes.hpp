// What goes with the passes of an order: which of them exchange together, which reduce gradients.
#pragma once

#include <vector>

#include "sim/plan/schedule.hpp"

namespace stepsim {

/// Passes between which ranks exchange, then weight gradients, which nobody else waits for.
struct ExchangedPasses {
  std::vector<Action> passes;
  std::vector<Action> weight_gradients;
};

/// Each pass by itself, but those that the schedule joins, and pairs of forward and backward where
/// an interleaved schedule does not overlap its transfers (Megatron-LM's
/// send_forward_backward_recv_forward_backward: with an exchange after each pass the circle of
/// stages would lock). Where all forward passes are warm-up there are no pairs: the next stage
/// waits for the last of them before it sends a gradient back.
std::vector<ExchangedPasses> exchanges(const std::vector<Action>& order, const Schedule& schedule,
                                       const Pipeline& pipeline);

/// For each pass of the order, whether gradients are reduced with it. They are once a step, when
/// those of a chunk are complete; without no_sync also whenever the rank turns to other weights:
/// after each micro-batch, or after a chunk's group of micro-batches in an interleaved pipeline.
std::vector<bool> reductions(const std::vector<Action>& order, const Parallelism& split);

}  // namespace stepsim
