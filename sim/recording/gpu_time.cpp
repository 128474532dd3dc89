// What a GPU does in a window, as lengths of unions over its streams.
#include "sim/recording/gpu_time.hpp"

#include <algorithm>
#include <initializer_list>

namespace stepsim {
namespace {

bool has_one_of(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts,
                             [&](std::string_view part) { return name.find(part) != name.npos; });
}

}  // namespace

KindByName kinds_of_names(const Recording& recording, const KernelKinds& kinds) {
  std::vector<bool> is_kernel(recording.names.size());
  for (const GpuActivity& activity : recording.activities) {
    if (activity.work == GpuWork::kernel) is_kernel[activity.name] = true;
  }
  KindByName of(recording.names.size(), KernelKind::unknown);
  for (std::size_t name = 0; name < of.size(); ++name) {
    if (is_kernel[name]) of[name] = kinds.kind_of(recording.names[name]);
  }
  return of;
}

bool copies_to_gpu(std::string_view name) {
  return has_one_of(name, {"HtoD", "Host-to-Device", "HostToDevice"});
}

bool copies_from_gpu(std::string_view name) {
  return has_one_of(name, {"DtoH", "Device-to-Host", "DeviceToHost"});
}

bool communicates(const GpuActivity& activity, const KindByName& kinds) {
  return activity.work == GpuWork::kernel && kinds[activity.name] == KernelKind::communication;
}

GpuRows gpu_rows(const Recording& recording, const KindByName& kinds) {
  std::vector<Interval> all, compute, communication, copies;
  for (const GpuActivity& activity : recording.activities) {
    all.push_back(activity.time);
    if (activity.work != GpuWork::kernel) {
      copies.push_back(activity.time);
    } else if (communicates(activity, kinds)) {
      communication.push_back(activity.time);
    } else {
      compute.push_back(activity.time);
    }
  }
  return {united(std::move(all)), united(std::move(compute)), united(std::move(communication)),
          united(std::move(copies))};
}

GpuTime gpu_time(const GpuRows& rows, Interval window) {
  const IntervalSet communication = clipped(rows.communication, window);
  return {.busy = length_within(rows.busy, window),
          .compute = length_within(rows.compute, window),
          .communication = length(communication),
          .copies = length_within(rows.copies, window),
          .communication_and_compute =
              length(intersection(communication, clipped(rows.compute, window)))};
}

}  // namespace stepsim
