// The optimizer step as kernels: unscale, norm, clip, update, copy back.
#pragma once

#include "sim/plan/segment.hpp"

namespace stepsim {

/// What comes before the ranks agree on a norm: gradients to fp32, unscaling, the norm where it is
/// clipped.
std::vector<Kernel> norm_kernels(Workshop& shop, double elements);

/// The update of `elements` parameters, and clearing `gradients` gradient elements.
std::vector<Kernel> update_kernels(Workshop& shop, double elements, double gradients);

}  // namespace stepsim
