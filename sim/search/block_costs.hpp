// What each block of a model costs a rank: time of its passes and bytes that it keeps, from the
// planner's own kernels and collectives.
//
// A time is that of the compute row when nothing else is on the links and no host is behind: the
// row's kernels, and collectives as far as the row waits for them. Passes of several blocks take at
// least the sum, for a block starts when the row has done the one before.
#pragma once

#include <array>
#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/program/plan_draft.hpp"
#include "sim/search/group_shapes.hpp"

namespace stepsim {

/// Costs of a block are kept for each way to recompute it.
inline constexpr std::size_t kRecomputes = 3 + kModuleSets - 1;
constexpr std::size_t index_of(Recompute kind, ModuleSet modules) {
  return modules == ModuleSet::stated ? static_cast<std::size_t>(kind)
                                      : 2 + static_cast<std::size_t>(modules);
}

/// Seconds of the compute row, and launches of the host.
struct RowTime {
  double seconds = 0, launches = 0;
  RowTime& operator+=(const RowTime& other) {
    seconds += other.seconds;
    launches += other.launches;
    return *this;
  }
  friend RowTime operator+(RowTime a, const RowTime& b) { return a += b; }
  friend RowTime operator-(RowTime a, const RowTime& b) {
    return {a.seconds - b.seconds, a.launches - b.launches};
  }
};

/// Seconds that passes wait at their ends for collectives of their last kernels: weight gradients
/// that come next do not.
struct LastWaits {
  double forward = 0, backward = 0, input_gradient = 0;
};

/// What one block costs a rank.
struct BlockCost {
  LastWaits waits;
  RowTime forward, backward, input_gradient, weight_gradient;
  std::array<RowTime, kRecomputes> again;   ///< what is computed again before the backward pass
  std::array<double, kRecomputes> saved{};  ///< bytes, from forward to backward
  std::array<double, kRecomputes> peak{};  ///< bytes while it runs backward, what it saved included
  double kept_for_weights = 0;             ///< bytes
  double dense = 0, experts = 0;           ///< parameters of a rank that are trained
  double frozen = 0;                       ///< bytes of parameters that are not trained, whole
  double gather = 0, scatter = 0;          ///< sharded parameters: seconds on the links, a pass
  BlockCost& operator+=(const BlockCost& other);
};

/// What a model costs one kind of rank. Sums of costs along the chain are differences of `before`.
struct ModelCosts {
  OpGraph graph;
  std::vector<BlockCost> blocks;          ///< by index into graph.blocks
  std::vector<BlockCost> before;          ///< by place in graph.chain: sum of all blocks before it
  std::vector<std::size_t> layers;        ///< places of the layers in the chain
  double gathered = 0;                    ///< sharded parameters: bytes of blocks that are gathered
  double transfer = 0, far_transfer = 0;  ///< seconds to the next stage, in and between nodes
  double collect = 0;                     ///< seconds to put a received message together
};

/// Seconds of the row for a segment of that plan.
RowTime row_time(const Plan& plan, const Segment& segment);

/// Costs of `scenario`, which has a strategy of the base, for each way to recompute.
ModelCosts model_costs(const Scenario& scenario, const SearchBase& base, const SplitShapes& shapes,
                       Plan& scratch);

}  // namespace stepsim
