// Kernels that move bytes: records to samples, rates to constants of a profile.

#include <fmt/format.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/command/profile_draft.hpp"
#include "sim/core/error.hpp"
#include "sim/fit/memory.hpp"
#include "sim/report/humanise.hpp"

namespace stepsim {
namespace {

using namespace stepsim::literals;

constexpr Bytes kLargeTensor = 64_MiB;  // a micro-batch's activations; smaller ones may stay in L2

fit::Samples memory_samples(const Records& records) {
  fit::Samples samples;
  for_each_point<calib::MemoryPoint>(records, [&](const auto& point, const auto& measured) {
    const Bytes bytes{static_cast<double>(point.bytes)};
    samples.push_back({MemoryBound{bytes, rate_of(point.op)}, Seconds{measured.timing.seconds},
                       bytes >= kLargeTensor});
  });
  return samples;
}

std::vector<Bytes> sizes_of(const fit::Samples& samples) {
  std::vector<Bytes> sizes;
  for (const fit::TimedWork& sample : samples)
    sizes.push_back(std::get<MemoryBound>(sample.work).bytes);
  return sizes;
}

fit::Samples of_class(const fit::Samples& samples, MemoryRate kind) {
  fit::Samples found;
  for (const fit::TimedWork& sample : samples)
    if (std::get<MemoryBound>(sample.work).rate == kind) found.push_back(sample);
  return found;
}

fit::Model memory_model(const MemoryProfile& profile) {
  GpuProfile gpu;
  gpu.memory_kernels = profile;
  return [gpu](const Work& work) { return kernel_time(work, gpu); };
}

}  // namespace

void fit_memory_kernels(const Records& records, std::uint64_t seed, GpuDraft& draft) {
  const fit::Samples samples = memory_samples(records);
  if (samples.empty()) return;
  MemoryProfile& profile = draft.profile.memory_kernels;
  const MemoryProfile base = profile;
  const fit::MemoryConstants all = fit::fit_memory(samples, base.latency);
  const bool split = samples.size() >= fit::kFewestToSplit;
  const fit::Samples seen = split ? fit::half_of(samples, seed, false) : samples;
  const fit::Samples kept = split ? fit::half_of(samples, seed, true) : samples;
  const MemoryProfile of_half = fit::with_constants(base, fit::fit_memory(seen, base.latency));
  profile = fit::with_constants(base, all);
  profile.range.bytes = extent_of(sizes_of(samples));
  for (const auto& [kind, bandwidth] : all.rates) {
    const std::vector<Bytes> sizes = sizes_of(of_class(samples, kind));
    FamilyReport report{.family = fmt::format("memory {}", name_of_rate(kind)),
                        .path = fmt::format("memory_kernels.{}", name_of_rate(kind)),
                        .held_out = split,
                        .range = size_range(sizes)};
    report.errors = fit::errors_of(memory_model(of_half), of_class(kept, kind));
    report.errors.points = static_cast<int>(sizes.size());
    report.base_errors = fit::errors_of(memory_model(base), of_class(samples, kind));
    report.remark = fmt::format("{:.4g} GB/s and {:.3g} us", bandwidth.bytes_per_second() / 1e9,
                                all.latency.microseconds());
    draft.fitted(report);
  }
  if (all.latency_shown)
    draft.state("memory_kernels.latency", "latency",
                fmt::format("fitted with the rates to {}",
                            draft.provenance.text(static_cast<int>(samples.size()))));
}

}  // namespace stepsim
