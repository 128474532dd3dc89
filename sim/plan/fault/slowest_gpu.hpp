// GPUs of one type are not equally fast, and those of a job wait for the slowest in every step.
//
// Their speed differs where the clock follows the power that a chip needs: in GEMMs, convolutions
// and fused attention. Kernels that move bytes run at the memory's clock, which all have alike:
// under 1 % between GPUs (P. Sinha et al., Not All GPUs Are Created Equal, SC 2022, arXiv
// 2208.11035, section V). With a standard deviation s of the times of one kernel over the GPUs, the
// slowest of n takes 1 + s * m(n) times the mean on average, m the mean of the maximum of n normal
// draws. Every rank is given that pace: the ranks of a tensor-parallel group wait for each other in
// each layer, the stages of a pipeline in each micro-batch, the replicas in each step. For a bubble
// that pace is a little too slow, because another stage than the slowest may run while a pipeline
// fills.
#pragma once

#include "sim/ops/work.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// The standard deviation of the speed of the scenario's GPUs, as a share of their mean:
/// `faults.gpu_spread`, or else the profile's. It is 0 where a jitter of kernels that lasts a whole
/// run draws the speed of each rank.
double gpu_spread(const Scenario& scenario);

/// The time of a kernel on the slowest GPU of the job, over its time on a mean GPU; at least 1.
struct Pace {
  double compute = 1;  ///< factor for kernels whose clock follows their power
  double of(const Work& work) const {
    return std::holds_alternative<MemoryBound>(work) ? 1 : compute;
  }
};
Pace pace_of_slowest(const Scenario& scenario);

}  // namespace stepsim
