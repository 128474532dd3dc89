// The kernels of a predicted step, one by one, with their work and their family.
#pragma once

#include <vector>

#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/report/measure/metrics.hpp"
#include "sim/report/recording/kernel_family.hpp"

namespace stepsim {

struct FamilyKernel {
  Work work;
  KernelFamily family = KernelFamily::other;
  double seconds = 0;  ///< without what collectives beside it cost
  double calls = 0;    ///< in a mean step
};

/// Whether it is time in which kernels compute.
bool is_work(Cause cause);

/// The rank of the slowest stage.
const RankTimeline& slowest_rank(const Metrics& metrics, const Timeline& timeline);

/// The kernels of the slowest stage's rank. `simulation` has single kernels.
std::vector<FamilyKernel> predicted_kernels(const Metrics& metrics, const OpGraph& graph,
                                            const Simulation& simulation);

}  // namespace stepsim
