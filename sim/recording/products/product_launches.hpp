// When the kernels that multiply were launched, thread by thread.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/recording/gpu_time.hpp"
#include "sim/recording/recording.hpp"

namespace stepsim {

struct ProductLaunch {
  Nanoseconds moment = 0;      ///< when the launch call began
  std::uint32_t activity = 0;  ///< index in Recording::activities
  auto operator<=>(const ProductLaunch&) const = default;
};

/// For each thread of the recording the launches of kernels of matrix products, convolutions and
/// attention, in order of time.
std::vector<std::vector<ProductLaunch>> product_launches(const Recording& recording,
                                                         const KindByName& kinds);

}  // namespace stepsim
