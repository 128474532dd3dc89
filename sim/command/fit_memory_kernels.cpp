// Kernels that move bytes: records to samples, rates to constants of a profile.
#include <algorithm>
#include <map>
#include <optional>

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

std::map<MemoryRate, fit::Samples> by_class(const fit::Samples& samples) {
  std::map<MemoryRate, fit::Samples> classes;
  for (const fit::TimedWork& sample : samples)
    classes[std::get<MemoryBound>(sample.work).rate].push_back(sample);
  return classes;
}

fit::Model memory_model(const MemoryProfile& profile) {
  GpuProfile gpu;
  gpu.memory_kernels = profile;
  return [gpu](const Work& work) { return kernel_time(work, gpu); };
}

/// Half of each class that has enough points is kept from a fit; the others are in it whole.
bool is_split(const fit::Samples& of_one_class) {
  return of_one_class.size() >= fit::kFewestToSplit;
}

/// What a fit that is to be judged sees.
fit::Samples seen_half(const std::map<MemoryRate, fit::Samples>& classes, std::uint64_t seed) {
  fit::Samples seen;
  for (const auto& [kind, samples] : classes) {
    const fit::Samples half = is_split(samples) ? fit::half_of(samples, seed, false) : samples;
    seen.insert(seen.end(), half.begin(), half.end());
  }
  return seen;
}

/// Sizes at which every measured class was measured: a profile has one range for all of them.
/// Nothing where they have none in common.
std::optional<Extent<Bytes>> common_range(const std::map<MemoryRate, fit::Samples>& classes) {
  std::optional<Extent<Bytes>> common;
  for (const auto& [kind, samples] : classes) {
    const Extent<Bytes> own = extent_of(sizes_of(samples));
    common =
        common ? Extent<Bytes>{std::max(common->least, own.least), std::min(common->most, own.most)}
               : own;
  }
  return common && common->least <= common->most ? common : std::nullopt;
}

}  // namespace

void fit_memory_kernels(const Records& records, std::uint64_t seed, GpuDraft& draft) {
  const fit::Samples samples = memory_samples(records);
  if (samples.empty()) return;
  const auto classes = by_class(samples);
  MemoryProfile& profile = draft.profile.memory_kernels;
  const MemoryProfile base = profile;
  const fit::MemoryConstants all = fit::fit_memory(samples, base.latency);
  profile = fit::with_constants(base, all);
  profile.range.bytes = common_range(classes);
  const MemoryProfile of_half =
      fit::with_constants(base, fit::fit_memory(seen_half(classes, seed), base.latency));
  for (const auto& [kind, own] : classes) {
    const std::string name = name_of_rate(kind);
    FamilyReport report{.family = "memory " + name,
                        .path = "memory_kernels." + name,
                        .held_out = is_split(own),
                        .range = size_range(sizes_of(own))};
    report.errors = report.held_out
                        ? fit::errors_of(memory_model(of_half), fit::half_of(own, seed, true))
                        : fit::errors_of(memory_model(profile), own);
    report.errors.points = static_cast<int>(own.size());
    report.base_errors = fit::errors_of(memory_model(base), own);
    report.remark =
        fmt::format("{:.4g} GB/s and {:.3g} us", all.rates.at(kind).bytes_per_second() / 1e9,
                    all.latency.microseconds());
    draft.fitted(report);
  }
  if (all.latency_shown)
    draft.state("memory_kernels.latency", "latency",
                fmt::format("fitted with the rates to {}",
                            draft.provenance.text(static_cast<int>(samples.size()))));
}

}  // namespace stepsim
