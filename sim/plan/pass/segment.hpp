// Segments: one pass (forward or backward of one chunk) as chains of kernels between points of
// contact.
//
// A backward pass is compiled whole or as its two halves. The weight gradients take the kernels and
// collectives that only gradients of parameters need, and reduce these; everything else, recompute
// included, belongs to the input gradients (PyTorch's split of the autograd graph,
// pytorch/pytorch@1fd7abc torch/distributed/pipelining/_backward.py).
//
// A segment is compiled once and used for every micro-batch and step. Between two points of contact
// (a collective starts; the compute row waits for one) the kernels are contracted into one chain.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/plan/program/plan_draft.hpp"

namespace stepsim {

/// A pass of these blocks, compiled when it is first asked for. `pass`: forward, backward, or one
/// half of it. `reduction`: of a backward pass; of a forward pass that gathers, how the gradients
/// of the same parameters are reduced.
const Segment& segment_of(PlanDraft& draft, const StageShape& shape,
                          const std::vector<std::size_t>& blocks, PassKind pass,
                          Reduction reduction = Reduction::none,
                          ParameterGather gather = ParameterGather::none);

}  // namespace stepsim
