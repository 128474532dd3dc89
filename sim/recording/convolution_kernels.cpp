// Looks for convolutions around the launches of products.
#include "sim/recording/convolution_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sim/recording/host_context.hpp"

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
  std::vector<std::vector<std::pair<Nanoseconds, std::uint32_t>>> launches(
      recording.threads.size());
  for (std::uint32_t i = 0; i < recording.activities.size(); ++i) {
    const GpuActivity& activity = recording.activities[i];
    if (activity.launch && kinds[activity.name] == KernelKind::gemm)
      launches[activity.launch->thread].emplace_back(recording.at(*activity.launch).time.start, i);
  }
  for (std::size_t thread = 0; thread < launches.size(); ++thread) {
    std::ranges::sort(launches[thread]);
    std::vector<Nanoseconds> moments;
    for (const auto& [moment, activity] : launches[thread]) moments.push_back(moment);
    visit_moments(recording.threads[thread], moments, [&](std::size_t i, Enclosing enclosing) {
      found[launches[thread][i].second] = std::ranges::any_of(
          enclosing, [&](const HostEvent* event) { return is_convolution[event->name]; });
    });
  }
  return found;
}

}  // namespace stepsim
