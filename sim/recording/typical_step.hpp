// A typical step of a core: each operator at its median over all steps.
//
// Steps of a training run the same operators in the same order. What else a machine does lengthens
// some of them in some steps; the median of the times at each place is what the operator takes.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sim/recording/gpu_time.hpp"
#include "sim/recording/idle_time.hpp"
#include "sim/recording/recording.hpp"

namespace stepsim {

struct TypicalStep {
  std::size_t steps = 0;  ///< that have the same operators; below 2 nothing is known
  /// Seconds by KernelKind; what updates parameters counts as KernelKind::optimizer.
  std::array<double, kNames<KernelKind>.size()> kinds{};
  double between_s = 0;  ///< outside of operators, the median of the steps
};

/// REQUIRES: recording.is_of_core.
TypicalStep typical_step(const Recording& recording, const KindByName& kinds,
                         const std::vector<RecordedStep>& steps, const IdleTime& idle);

}  // namespace stepsim
