// What the clamps of experts add to their activation.
#pragma once

#include "sim/core/quantity.hpp"
#include "sim/ops/pass.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {

/// Adds what clamps both halves of a gated activation and shifts one, where that is not part of its
/// kernel; `one`: bytes of the activation's output. Returns what it keeps for the backward pass.
Bytes add_clamps(ActivationKernels& kernels, const Pass& pass, double one);

}  // namespace stepsim
