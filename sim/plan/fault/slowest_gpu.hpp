// GPUs of one type are not equally fast, and those of a job wait for the slowest in every step.
//
// Their speed differs where the clock follows the power that a chip needs: in GEMMs, convolutions
// and fused attention. Kernels that move bytes run at the memory's clock, which all have alike:
// under 1 % between GPUs (P. Sinha et al., Not All GPUs Are Created Equal, SC 2022, arXiv
// 2208.11035, section V). With a standard deviation s of the times of one kernel over the GPUs, the
// slowest of n takes 1 + s * m(n) times the mean on average, m the mean of the maximum of n normal
// draws. Every rank is given that pace: the ranks of a tensor-parallel group wait for each other in
// each layer, the stages of a pipeline in each micro-batch, the replicas in each step. Of a bubble
// it is a little too much, for while a pipeline fills, a stage other than the slowest may be on.
#pragma once

#include "sim/ops/work.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Standard deviation of the speed of the scenario's GPUs, of their mean: `faults.gpu_spread`, or
/// else the profile's; none where a jitter of kernels that lasts a run draws it for all ranks.
double gpu_spread(const Scenario& scenario);

/// Time of that kernel on the slowest GPU of the job over the time on a mean one, at least 1.
struct Pace {
  double compute = 1;  ///< of kernels whose clock follows their power
  double of(const Work& work) const {
    return std::holds_alternative<MemoryBound>(work) ? 1 : compute;
  }
};
Pace pace_of_slowest(const Scenario& scenario);

}  // namespace stepsim
