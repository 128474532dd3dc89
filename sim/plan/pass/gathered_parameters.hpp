// What is gathered of parameters that ranks hold shards of.
#pragma once

#include "sim/ops/op_graph.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Parameter elements of a block that are gathered for each of its passes, and those that stay.
struct GatheredElements {
  double each_pass = 0, persistent = 0;
  GatheredElements operator+(const GatheredElements& other) const {
    return {each_pass + other.each_pass, persistent + other.persistent};
  }
};
/// `expert`: of the parameters of expert-parallel experts, or of all others.
GatheredElements gathered_elements(const Scenario& scenario, const Block& block, bool expert);
/// Bytes of parameters as they are gathered, of which so many elements are quantised where
/// fp8_parameters says so.
Bytes stored_bytes(const Training& training, double elements, double quantised);
/// Elements that an op's passes gather.
double gathered_elements(const Scenario& scenario, const Op& op);
/// Bytes that passes of an op, or of a block's ops, gather: weights of linear layers may be
/// quantised before.
Bytes gathered_bytes(const Scenario& scenario, const Op& op);
Bytes gathered_bytes(const Scenario& scenario, const Block& block, bool expert);

}  // namespace stepsim
