// In which order a backward pass completes gradients, and where buckets of them end.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Bytes that one gradient element is reduced in.
double gradient_bytes(const Scenario& scenario);

/// A gradient, and the op of the graph whose backward kernels complete it.
struct CompletedGradient {
  const Op* op;
  GradientReady ready;
};

/// The gradients of these blocks, in the order in which their backward pass completes them.
std::vector<CompletedGradient> completed_gradients(const OpGraph& graph,
                                                   const std::vector<std::size_t>& blocks);

/// Which of the blocks' gradients end a bucket: of parameters that are no experts', of experts'.
std::array<std::vector<bool>, 2> ends_of_buckets(const Scenario& scenario, const OpGraph& graph,
                                                 const std::vector<std::size_t>& blocks);

}  // namespace stepsim
