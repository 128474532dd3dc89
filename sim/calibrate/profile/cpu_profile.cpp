// Fits a core's loops and products, as for GPUs, into a profile that starts from nothing, and joins
// it with the texts of the other files.
#include "sim/calibrate/profile/cpu_profile.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/calibrate/fit/memory.hpp"
#include "sim/calibrate/fit/smooth_gemm.hpp"
#include "sim/calibrate/profile/profile_draft.hpp"
#include "sim/core/error.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {
namespace {

using namespace stepsim::literals;

/// Products that are reported as large, since steps consist of them. Judgement: a millisecond of a
/// core of 100 GFLOP/s; in smaller products the call is a visible part.
constexpr Flops kLargeProduct{1e8};
/// A latency to start the search from. Judgement: a call and a loop take about as long.
constexpr Seconds kCall{1e-6};

/// What is measured stays in its file.
constexpr const char* kMoreTime = "the same call goes on from there, with more time by --budget";

fit::Samples gemm_samples(const Records& records) {
  fit::Samples samples;
  for_each_point<GemmPoint>(records, [&](const auto& point, const auto& measured) {
    if (point.dtype != Precision::fp32) return;
    Gemm gemm;
    gemm.m = point.m;
    gemm.n = point.n;
    gemm.k = point.k;
    gemm.batch = point.batch;
    gemm.weight_gradient = point.transpose == Transpose::NT;
    gemm.precision = Precision::fp32;
    samples.push_back({gemm, Seconds{measured.timing.seconds}, gemm.flops() >= kLargeProduct});
  });
  return samples;
}

/// Rates of the trainer's loops. The fastest is the memory's bandwidth; classes that the trainer
/// has no loops of are as element-wise kernels.
void set_memory(const Records& records, std::uint64_t seed, GpuDraft& draft) {
  draft.profile.memory_kernels.latency = kCall;
  draft.state("memory_kernels.latency", "call", "judgement: of a call and a loop");
  fit_memory_kernels(records, seed, draft);
  for (FamilyReport& family : draft.families) family.base_errors = {};  // there is no base
  MemoryProfile& memory = draft.profile.memory_kernels;
  if (memory.elementwise.bytes_per_second() <= 0 || memory.optimizer.bytes_per_second() <= 0 ||
      memory.loss.bytes_per_second() <= 0)
    throw UserError(
        fmt::format("too little was measured: a training needs copies, squared errors and Adam; {}",
                    kMoreTime));
  for (BytesPerSecond* rate : {&memory.norm, &memory.softmax, &memory.dropout, &memory.permute})
    *rate = memory.elementwise;
  draft.profile.memory_bandwidth = std::max({memory.elementwise, memory.optimizer, memory.loss});
  draft.state("memory_bandwidth", "fastest", "derived: the fastest of the rates of memory_kernels");
  for (const char* key : {"norm", "softmax", "dropout", "permute"})
    draft.state(fmt::format("memory_kernels.{}", key), "elementwise",
                "derived: as element-wise kernels, not measured");
  // A copy reads and writes each byte.
  draft.profile.copy_pinned = draft.profile.copy_pageable =
      fit::rounded(memory.elementwise * 0.5, 1e9);
  for (const char* key : {"copy_pinned", "copy_pageable"})
    draft.state(key, "copies", "derived: half of the element-wise rate, which counts both sides");
}

void set_products(const Records& records, std::uint64_t seed, GpuDraft& draft) {
  const fit::Samples samples = gemm_samples(records);
  if (samples.size() < fit::kFewestToSplit)
    throw UserError(
        fmt::format("too little was measured: {} products of matrices, of which a fit needs {}; {}",
                    samples.size(), fit::kFewestToSplit, kMoreTime));
  const BytesPerSecond bandwidth = draft.profile.memory_bandwidth;
  GemmProfile start;
  start.precision = Precision::fp32;
  start.form = SmoothGemm{};
  start.memory_efficiency =
      fit::rounded(std::min(1.0, draft.profile.memory_kernels.elementwise / bandwidth));
  const GemmProfile fitted = fit::fit_smooth_gemm(samples, start, bandwidth);
  const GemmProfile of_half =
      fit::fit_smooth_gemm(fit::half_of(samples, seed, false), start, bandwidth);
  FamilyReport report{.family = "gemm fp32", .path = "gemm.fp32"};
  report.errors =
      fit::errors_of(fit::smooth_gemm_model(of_half, bandwidth), fit::half_of(samples, seed, true));
  report.errors.points = static_cast<int>(samples.size());
  report.range = "fp32, forward and both gradients";
  report.remark = fmt::format("{:.4g} GFLOP/s", fitted.peak.flops_per_second() / 1e9);
  draft.profile.gemm = {fitted};
  draft.fitted(report);
}

/// What an all-reduce costs the products beside it, over what it takes alone: with p products of g
/// seconds beside a reduction of r, all in t, it is (t - p g) / r; the mean of a record that timed
/// the products (t / p beside g alone) and one that timed the reduction. Nothing where they were
/// not measured.
std::optional<double> communication_share(const Records& records) {
  std::optional<Measured> by_products, by_reduction;
  for_each_point<OverlapPoint>(records, [&](const auto& point, const auto& measured) {
    if (!measured.alone_seconds || !measured.products) return;
    (point.timed == Activity::gemm ? by_products : by_reduction) = measured;
  });
  if (!by_products || !by_reduction) return {};
  const double product = *by_products->alone_seconds, reduction = *by_reduction->alone_seconds;
  const auto share = [&](const Measured& measured, double together) {
    return (together - static_cast<double>(*measured.products) * product) / reduction;
  };
  const double all = by_products->timing.seconds * static_cast<double>(*by_products->products);
  const double mean =
      (share(*by_products, all) + share(*by_reduction, by_reduction->timing.seconds)) / 2;
  return std::clamp(mean, 0.0, 1.0);
}

void set_machine(const DeviceFacts& device, std::optional<std::string> working_set,
                 const Records& records, GpuDraft& draft) {
  GpuProfile& gpu = draft.profile;
  gpu.description = fmt::format("one core of {}", device.name);
  if (working_set) gpu.description += fmt::format(", working on {} bytes", *working_set);
  gpu.sms = 1;
  gpu.memory = Bytes{static_cast<double>(device.memory_bytes) /
                     static_cast<double>(std::max<std::int64_t>(device.gpus, 1))};
  draft.state("", "core", "derived: a core is a device of one unit");
  draft.state("memory", "machine", "the machine's memory, an equal part for each rank");
  if (const auto share = communication_share(records)) {
    gpu.communication_share = fit::rounded(*share);
    draft.state("communication_share", "overlap",
                fmt::format("an all-reduce beside products, over the same alone: {}",
                            draft.origin.text(2)));
  }
}

}  // namespace

std::string without_architecture(std::string text) {
  const std::size_t begin = text.find("\narchitecture: ");
  return begin == std::string::npos ? text : text.erase(begin, text.find('\n', begin + 1) - begin);
}

CpuProfile cpu_profile(const MeasuredFile& file, const std::string& name, int cores) {
  constexpr std::uint64_t kSeed = 1;
  Records records;
  for (const PointRecord& record : file.content.records)
    if (record.skipped.empty()) records.push_back(record);
  const DeviceFacts& device = file.content.device;
  const ProfileOrigin origin{file.name.substr(file.name.find_last_of('/') + 1), device.name,
                             file.content.started.substr(0, 10)};
  GpuDraft gpu;
  gpu.origin = origin;
  gpu.profile.name = name;
  const Versions& software = file.content.software;
  const auto of_set = software.find(kWorkingSet);
  set_machine(device, of_set == software.end() ? std::nullopt : std::optional(of_set->second),
              records, gpu);
  set_memory(records, kSeed, gpu);
  set_products(records, kSeed, gpu);
  const std::string title = fmt::format("{}, by stepsim calibrate cpu.", gpu.profile.description);
  CpuProfile made;
  made.gpu_text = without_architecture(profile_yaml(gpu.profile, title, gpu.sources));
  check_readable(gpu.profile, parse_gpu(made.gpu_text, name + ".yaml"));
  made.families = gpu.families;
  if (const auto link = cpu_link(file, name, origin)) {
    made.link_text =
        profile_yaml(link->profile, "MPI between processes of this machine.", link->sources);
    check_readable(link->profile, parse_link(made.link_text, name + ".yaml"));
    made.families.insert(made.families.end(), link->families.begin(), link->families.end());
  }
  const std::int64_t ranks = made.link_text.empty() ? 1 : device.gpus;
  made.cluster_text = cpu_cluster_text(name, ranks, !made.link_text.empty(), origin);
  made.scenario_text = cpu_scenario_text(name, ranks, cores, records);
  return made;
}

}  // namespace stepsim
