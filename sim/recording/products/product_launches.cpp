// Sorts launches of kernels that multiply by their threads.
#include "sim/recording/products/product_launches.hpp"

#include <algorithm>

namespace stepsim {

std::vector<std::vector<ProductLaunch>> product_launches(const Recording& recording,
                                                         const KindByName& kinds) {
  std::vector<std::vector<ProductLaunch>> launches(recording.threads.size());
  for (std::uint32_t i = 0; i < recording.activities.size(); ++i) {
    const GpuActivity& activity = recording.activities[i];
    if (activity.work == GpuWork::kernel && activity.launch && multiplies(kinds[activity.name]))
      launches[activity.launch->thread].push_back({recording.at(*activity.launch).time.start, i});
  }
  for (auto& of_thread : launches) std::ranges::sort(of_thread);
  return launches;
}

}  // namespace stepsim
