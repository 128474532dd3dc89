// Looks for convolutions around the launches of products.
#include "sim/recording/convolution_kernels.hpp"

#include <algorithm>
#include <cstdint>

#include "sim/recording/host_context.hpp"
#include "sim/recording/products/product_launches.hpp"

namespace stepsim {
namespace {

/// By name: whether it is an operator's of PyTorch that convolves, forward or backward.
std::vector<bool> convolves(const Recording& recording) {
  std::vector<bool> names;
  for (const std::string& name : recording.names)
    names.push_back(name.starts_with("aten::") && name.find("convolution") != name.npos);
  return names;
}

}  // namespace

std::vector<bool> products_of_convolutions(const Recording& recording, const KindByName& kinds) {
  std::vector<bool> found(recording.activities.size());
  const std::vector<bool> is_convolution = convolves(recording);
  if (std::ranges::find(is_convolution, true) == is_convolution.end()) return found;
  const auto launches = product_launches(recording, kinds);
  for (std::size_t thread = 0; thread < launches.size(); ++thread) {
    std::vector<Nanoseconds> moments;
    for (const ProductLaunch& launch : launches[thread]) moments.push_back(launch.moment);
    visit_moments(recording.threads[thread], moments, [&](std::size_t i, Enclosing enclosing) {
      const std::uint32_t activity = launches[thread][i].activity;
      const auto convolves_in = [&](const HostEvent* event) { return is_convolution[event->name]; };
      found[activity] = kinds[recording.activities[activity].name] == KernelKind::gemm &&
                        std::ranges::any_of(enclosing, convolves_in);
    });
  }
  return found;
}

}  // namespace stepsim
