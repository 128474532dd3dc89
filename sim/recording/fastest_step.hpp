// A step of a core as if nobody else had used it: each operator at the fastest of all steps.
//
// Steps of a training run the same operators in the same order. What else a machine does can only
// lengthen them, so that the least of the times at each place is what the operator itself takes.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sim/recording/gpu_time.hpp"
#include "sim/recording/idle_time.hpp"
#include "sim/recording/recording.hpp"

namespace stepsim {

struct FastestStep {
  std::size_t steps = 0;  ///< that have the same operators; below 2 nothing is known
  /// Seconds by KernelKind; what updates parameters counts as KernelKind::optimizer.
  std::array<double, kNames<KernelKind>.size()> kinds{};
  double between_s = 0;  ///< outside of operators, in the step where that is least
};

/// REQUIRES: recording.is_of_core.
FastestStep fastest_step(const Recording& recording, const KindByName& kinds,
                         const std::vector<RecordedStep>& steps, const IdleTime& idle);

}  // namespace stepsim
