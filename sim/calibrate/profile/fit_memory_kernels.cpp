// Kernels that move bytes: records to samples, rates to constants of a profile.
#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sim/calibrate/fit/memory.hpp"
#include "sim/calibrate/measurement/memory_bytes.hpp"
#include "sim/calibrate/profile/profile_draft.hpp"
#include "sim/cluster/memory_rate.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

using namespace stepsim::literals;

// A tensor as large as a micro-batch's activations, by judgement: smaller ones may stay in L2.
constexpr Bytes kLargeTensor = 64_MiB;

/// With what a norm reads once more and a softmax twice (sim/ops/layer), where rows are known.
MemoryBound kernel_of(const MemoryOpPoint& point) {
  const double element = static_cast<double>(element_bytes(point.dtype));
  const Bytes row{element * static_cast<double>(point.columns)};
  const Bytes tensor = row * static_cast<double>(point.rows);
  MemoryBound kernel{Bytes{static_cast<double>(point.bytes)}, rate_of(point.op)};
  if (point.rows == 1) return kernel;
  kernel.row = row;
  if (point.op == MemoryOp::norm) kernel.again = tensor;
  if (point.op == MemoryOp::softmax) kernel.again = tensor * 2;
  return kernel;
}

fit::Samples memory_samples(const Records& records) {
  fit::Samples samples;
  for_each_point<MemoryOpPoint>(records, [&](const auto& point, const auto& measured) {
    const MemoryBound kernel = kernel_of(point);
    fit::TimedWork sample{kernel, Seconds{measured.timing.seconds}, kernel.bytes >= kLargeTensor};
    sample.with_launch = measured.with_launch;
    samples.push_back(sample);
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

std::string remark_of(const fit::MemoryConstants& constants, MemoryRate kind) {
  std::string text =
      fmt::format("{:.4g} GB/s and {:.3g} us", constants.rates.at(kind).bytes_per_second() / 1e9,
                  constants.latency.microseconds());
  if (const auto row = constants.kept_rows.find(kind); row != constants.kept_rows.end())
    text += fmt::format("; rows above {} are read again", humanise(row->second).text());
  if (const auto launch = constants.launches.find(kind); launch != constants.launches.end())
    text +=
        fmt::format("; not in the profile: {:.3g} us of a launch", launch->second.microseconds());
  return text;
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
  const fit::MemoryConstants all = fit::fit_memory(samples, base);
  profile = fit::with_constants(base, all);
  profile.range.bytes = common_range(classes);
  const fit::MemoryConstants of_half = fit::fit_memory(seen_half(classes, seed), base);
  for (const auto& [kind, own] : classes) {
    const std::string name = class_of(kind).name;
    FamilyReport report{.family = "memory " + name,
                        .path = "memory_kernels." + name,
                        .held_out = is_split(own),
                        .range = size_range(sizes_of(own))};
    report.errors = report.held_out
                        ? fit::memory_errors(fit::with_constants(base, of_half), of_half.launches,
                                             fit::half_of(own, seed, true))
                        : fit::memory_errors(profile, all.launches, own);
    report.errors.points = static_cast<int>(own.size());
    report.base_errors = fit::memory_errors(base, all.launches, own);
    report.remark = remark_of(all, kind);
    draft.fitted(report);
    if (all.kept_rows.count(kind) > 0)
      draft.state("memory_kernels.kept_row." + name, id_of(report.path), "");
  }
  if (all.latency_shown)
    draft.state("memory_kernels.latency", "latency",
                fmt::format("fitted with the rates to {}",
                            draft.origin.text(static_cast<int>(samples.size()))));
}

}  // namespace stepsim
