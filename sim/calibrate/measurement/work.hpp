// What a point does: FLOPs and bytes, for the bounds of what can be true and of what fits.
#pragma once

#include <cstdint>

#include "sim/calibrate/measurement/point.hpp"

namespace stepsim {

/// FLOPs of the kernel that is timed; causal attention counted as the half that it computes, and
/// its backward pass as 2.5 forward ones (the scores again, and two gradients of each product); a
/// convolution as its products, though Winograd's algorithm has fewer. 0 for what computes nothing.
double flops_of(const Point& point);

/// Bytes that the kernel has to read and write, each tensor once; the message of a copy or
/// collective.
double bytes_of(const Point& point);

/// Memory of the GPU that one turn of it needs, in bytes.
std::int64_t footprint_of(const Point& point);

}  // namespace stepsim
