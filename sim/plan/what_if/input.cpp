// Changes of the input pipeline: free, and with more of what it is made of.
#include <optional>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/what_if.hpp"

namespace stepsim {
namespace {

const Registered<Limit> input{{
    .name = "input",
    .bound = "data-bound",
    .waits = "for input",
    .world = "with an infinitely fast loader",
    .causes = {Cause::batch_wait, Cause::h2d},
    .applies = [](const Scenario& s) { return s.data.has_value(); },
    .plan = with_free_input,
    .proposals = {"loader"},
}};

void speed_up(Scenario& scenario) {
  Storage& storage = scenario.data->storage;
  for (BytesPerSecond* rate :
       {&storage.bandwidth, &storage.shared_bandwidth, &storage.stream_bandwidth})
    *rate = *rate * 2;
  storage.iops *= 2;
  storage.shared_iops *= 2;
  storage.latency = storage.latency / 2;
}

bool waits_for_storage(const Storage& storage) {
  return storage.bandwidth > BytesPerSecond{0} || storage.shared_bandwidth > BytesPerSecond{0} ||
         storage.latency > Seconds{0};
}

std::vector<Change> faster_storage(const Scenario& scenario) {
  std::vector<Change> changes;
  if (!scenario.data || !waits_for_storage(scenario.data->storage)) return changes;
  changes.push_back({.title = "storage twice as fast", .scenario = speed_up});
  if (scenario.host.cores) {
    changes.push_back(
        {.title = "twice the CPU cores", .scenario = [](Scenario& s) { *s.host.cores *= 2; }});
  }
  return changes;
}

/// The setting that copies pixels as bytes, for the GPU can widen what
/// torchvision.transforms.ToTensor makes fp32 on the CPU. Absent where no pixels are copied as
/// fp32.
std::optional<std::string> narrow_pixels(const Scenario& scenario) {
  const auto* resnet = std::get_if<ResNet>(&scenario.model.shape);
  const auto* t = std::get_if<Transformer>(&scenario.model.shape);
  std::int64_t pixels = 0;
  if (resnet != nullptr) pixels = resnet->channels * resnet->image * resnet->image;
  if (t != nullptr && t->vision) pixels = t->vision->channels * t->vision->image * t->vision->image;
  if (pixels == 0 || scenario.data->device_bytes < 4_B * static_cast<double>(pixels)) return {};
  return fmt::format("data.device_bytes={}B", pixels);
}

std::vector<Change> changes(const Scenario& scenario) {
  std::vector<Change> changes;
  if (!scenario.data) return changes;
  const Input& data = *scenario.data;
  const auto set = [&](bool worth_it, const std::string& setting) {
    if (worth_it) changes.push_back({.settings = {setting}});
  };
  set(true, fmt::format("data.workers={}", data.workers == 0 ? 1 : 2 * data.workers));
  set(data.workers > 0, fmt::format("data.prefetch={}", 2 * data.prefetch));
  set(waits_for_storage(data.storage) && data.storage.samples_per_read <= 1,
      "data.storage.samples_per_read=1000");
  set(!data.pinned, "data.pinned=true");
  set(data.pinned && !data.non_blocking, "data.non_blocking=true");
  if (const auto narrow = narrow_pixels(scenario)) set(true, *narrow);
  set(data.samples > 0 && !data.persistent_workers, "data.persistent_workers=true");
  return changes;
}

const Registered<Proposal> loader{{.name = "loader", .changes = changes}};
const Registered<Proposal> storage{{.name = "storage", .changes = faster_storage}};

}  // namespace
}  // namespace stepsim
