// How fast a GPU makes the products of matrices whose sizes were recorded, and how fast it could.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/recording/gpu_time.hpp"
#include "sim/recording/recording.hpp"
#include "sim/scenario/gpu.hpp"
#include "sim/scenario/kinds.hpp"

namespace stepsim {

/// The products of one size within a window: the kernels of matrix products, convolutions and
/// attention that their operators launched.
struct ProductTime {
  std::string title;
  Precision precision = Precision::fp32;
  std::size_t calls = 0;
  double seconds = 0;       ///< a sum: kernels that run beside each other count each
  double flops = 0;         ///< of all calls
  double attainable_s = 0;  ///< of all calls, by the GPU's profile; 0: not known
};

struct Products {
  std::string profile;             ///< of the GPU; empty: there is none
  std::vector<ProductTime> times;  ///< the most time first
  double flops = 0;                ///< of all of them, those computed again included
  double peak_s = 0;  ///< what they take at the profile's peaks; 0: one of the peaks is not known
};

/// All products within the window. `gpu`: the profile of the GPU, nullptr where there is none.
Products products_of(const Recording& recording, const KindByName& kinds, Interval window,
                     const GpuProfile* gpu);

/// For each activity the share of its time that it would take at the attainable rate: 1 where that is
/// not known, and for those that are as fast.
std::vector<float> attainable_shares(const Recording& recording, const KindByName& kinds,
                                     const GpuProfile* gpu);

}  // namespace stepsim
