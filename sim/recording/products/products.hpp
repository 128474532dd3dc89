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

/// Products of one size: the kernels of matrix products, convolutions and attention that their
/// operators launched. A call counts where its first kernel starts.
struct ProductTime {
  std::string title;
  Precision precision = Precision::fp32;
  std::size_t calls = 0;
  double seconds = 0;                 ///< a sum: kernels that run beside each other count each
  Flops flops;                        ///< of all calls
  std::optional<Seconds> attainable;  ///< of all calls, by the GPU's profile; absent: not known
};

/// All products of a window.
struct Products {
  std::string profile;             ///< of the GPU; empty: there is none
  std::vector<ProductTime> times;  ///< the most time first
  double unknown_s = 0;            ///< of kernels that multiply, and of which no size is known
  Flops flops;                     ///< of all whose size is known, those computed again included
  std::optional<Seconds> at_peak;  ///< what these take at the profile's peaks; absent: not known

  double known_s() const;
};

/// `gpu`: the profile of the GPU; nullptr: no profile is of it.
Products products_of(const Recording& recording, const KindByName& kinds, Interval window,
                     const GpuProfile* gpu);

/// For each activity the share of its time that it would take at the attainable rate: 1 where that is
/// not known, and for those that are as fast. `gpu` as above.
std::vector<float> attainable_shares(const Recording& recording, const KindByName& kinds,
                                     const GpuProfile* gpu);

}  // namespace stepsim
