// Gradients of a backward pass in the order in which it completes them, and where their buckets end.
//
// A bucket is closed by the gradient that makes it reach its size. PyTorch fills buckets in the
// order in which gradients become ready (pytorch/pytorch torch/csrc/distributed/c10d/reducer.cpp,
// rebuild_buckets). Before it could rebuild them (pull request 35137) it filled them in the order
// in which parameters are defined and reduced the last one first, so that the small first bucket
// held the model's front, "such that their gradients don't spill into a much larger bucket, adding
// unnecessary latency after gradient computation finishes" (torch/nn/parallel/distributed.py,
// _ddp_init_helper).
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Bytes that one gradient element has in its bucket.
double gradient_bytes(const Scenario& scenario);

/// Bytes that one gradient element is reduced in: as it lies in its bucket, or as it is cast.
double reduced_bytes(const Scenario& scenario);

/// Whether buckets are cast before their reductions, and back behind them: as PyTorch's hook does
/// (pytorch/pytorch torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py, _compress_hook)
/// and DeepSpeed (deepspeedai/DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py, allreduce_bucket).
bool casts_buckets(const Scenario& scenario);

/// A gradient, and the op of the graph whose backward kernels complete it.
struct CompletedGradient {
  const Op* op;
  GradientReady ready;
};

/// The gradients of these blocks, in the order in which their backward pass completes them.
std::vector<CompletedGradient> completed_gradients(const OpGraph& graph,
                                                   const std::vector<std::size_t>& blocks);

/// Which of the blocks' gradients end a bucket, in the order of completed_gradients: of parameters
/// that are no experts', and of experts'. What comes after the last end is a bucket that is not
/// full.
std::array<std::vector<bool>, 2> ends_of_buckets(const Scenario& scenario, const OpGraph& graph,
                                                 const std::vector<std::size_t>& blocks);

}  // namespace stepsim
