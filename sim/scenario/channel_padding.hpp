// Images of too few channels for tensor cores, which a library fills up by itself.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/scenario/gpu.hpp"

namespace stepsim {

/// Channels that a convolution works on. cuDNN pads images of fewer than four for two-byte types
/// (cuDNN 7.6.3 release notes, "auto-padding for NHWC layout"; to four by its kernels
/// nchwToNhwc3To4Kernel and first_layer_fwd_kernel in the profile of ResNet-50 in NVIDIA/apex
/// apex/pyprof/README.md). No such kernel is known for tf32.
constexpr std::int64_t padded_channels(Precision precision, std::int64_t channels) {
  constexpr std::int64_t kPadded = 4;
  return bytes_per_element(precision) == 2 ? std::max(channels, kPadded) : channels;
}

}  // namespace stepsim
