// Copies between host and device, and launches: records to constants of a profile.
#include <map>
#include <utility>

#include <fmt/format.h>

#include "sim/calibrate/fit/line.hpp"
#include "sim/calibrate/profile/profile_draft.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

using namespace stepsim::literals;

constexpr Bytes kLargeCopy = 1_MiB;  // judgement: a micro-batch of pictures has more

/// What the simulator makes of a copy: its bytes over its rate.
fit::Errors copy_errors(const std::vector<fit::Message>& copies, BytesPerSecond bandwidth) {
  fit::Samples samples;
  for (const fit::Message& copy : copies)
    samples.push_back({MemoryBound{copy.bytes}, copy.seconds, copy.bytes >= kLargeCopy});
  return fit::errors_of(
      [&](const Work& work) { return std::get<MemoryBound>(work).bytes / bandwidth; }, samples);
}

}  // namespace

void fit_host_copies(const Records& records, GpuDraft& draft) {
  std::map<std::pair<HostMemory, Direction>, std::vector<fit::Message>> copies;
  for_each_point<CopyPoint>(records, [&](const auto& point, const auto& measured) {
    copies[{point.host, point.direction}].push_back(
        {Bytes{static_cast<double>(point.bytes)}, Seconds{measured.timing.seconds}});
  });
  for (const auto& [key, messages] : copies) {
    const auto& [host, direction] = key;
    const bool pinned = host == HostMemory::pinned;
    const fit::Line line = fit::line_through(messages);
    std::vector<Bytes> sizes;
    for (const fit::Message& message : messages) sizes.push_back(message.bytes);
    FamilyReport report{.family = fmt::format("copy {} {}", name_of(direction), name_of(host)),
                        .path = pinned ? "copy_pinned" : "copy_pageable",
                        .held_out = false,
                        .range = size_range(sizes)};
    report.remark = fmt::format("{:.3g} us + bytes / {:.4g} GB/s", line.latency.microseconds(),
                                1e-9 / line.seconds_per_byte);
    if (line.r_squared) report.remark += fmt::format(", R2 {:.4f}", *line.r_squared);
    const BytesPerSecond bandwidth = fit::rounded(BytesPerSecond{1 / line.seconds_per_byte}, 1e9);
    report.errors = copy_errors(messages, bandwidth);
    if (direction == Direction::h2d) {
      (pinned ? draft.profile.copy_pinned : draft.profile.copy_pageable) = bandwidth;
      draft.fitted(report);
    } else {
      report.path.clear();  // profiles have the rate to the device alone
      draft.families.push_back(report);
    }
  }
}

void fit_launches(const Records& records, GpuDraft& draft) {
  for_each_point<LaunchPoint>(records, [&](const auto& point, const auto& measured) {
    const Seconds time{measured.timing.seconds};
    FamilyReport report{.family = fmt::format("launch {}", name_of(point.cost)), .held_out = false};
    report.errors.points = 1;
    report.remark = humanise(time).text();
    if (point.cost == LaunchCost::host) report.remark += ": `host.launch` of a scenario";
    const bool needed = draft.sources.of.count("memory_kernels.latency") == 0;
    if (point.cost == LaunchCost::stream && needed) {
      draft.profile.memory_kernels.latency = fit::rounded(time, 1e-6);
      draft.state("memory_kernels.latency", "launch",
                  "measured: back-to-back empty kernels, " + draft.origin.text(1));
    }
    draft.families.push_back(report);
  });
}

}  // namespace stepsim
