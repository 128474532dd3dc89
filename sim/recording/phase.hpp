// Which part of a step an activity of the GPU belongs to: forward, backward, optimizer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/recording/recording.hpp"

namespace stepsim {

enum class StepPhase : std::uint8_t { forward, recompute, backward, optimizer, not_known };

/// The phase that an event of the host says by its name, if any.
std::optional<StepPhase> phase_said_by(std::string_view name);

/// The phase of each activity, in their order, by what encloses its launch on the host: PyTorch's
/// annotation `Optimizer.step#...`, its operator `autograd::engine::evaluate_function: ...` (since
/// 1.11; before, an operator whose name ends in Backward). Activities that were launched within a
/// checkpoint's backward, but not by an operator's, are recomputed. not_known: without a launch.
std::vector<StepPhase> phases_of(const Recording& recording);

}  // namespace stepsim
