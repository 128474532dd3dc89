// Fits by family, as for GPUs, into a profile that starts from nothing.
#include "sim/command/cpu_profile.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/command/profile_draft.hpp"
#include "sim/core/error.hpp"
#include "sim/fit/line.hpp"
#include "sim/fit/memory.hpp"
#include "sim/fit/smooth_gemm.hpp"
#include "sim/report/humanise.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {
namespace {

using namespace stepsim::literals;

/// What a CPU spends on a large part of a step; smaller products are the overhead's.
constexpr double kLargeProduct = 1e8;
/// A latency to start the search from; that of a call and a loop.
constexpr Seconds kCall{1e-6};
constexpr Bytes kLeastMessage = 4_KiB;
constexpr Bytes kLargeMessage = 1_MiB;
/// The picture whose decoding the scenario has, and about its bytes as a JPEG of quality 90.
constexpr std::int64_t kPictureWidth = 320, kPictureHeight = 240;
constexpr const char* kPictureBytes = "32 KiB";

/// What is measured stays in its file.
constexpr const char* kMoreTime = "the same call goes on from there, with more time by --budget";

struct Sources {
  static constexpr const char* machine = "machine";
  static constexpr const char* core = "core";
  static constexpr const char* overlap = "overlap";
};

fit::Samples gemm_samples(const Records& records) {
  fit::Samples samples;
  for_each_point<calib::GemmPoint>(records, [&](const auto& point, const auto& measured) {
    if (point.dtype != calib::Dtype::fp32) return;
    Gemm gemm;
    gemm.m = point.m;
    gemm.n = point.n;
    gemm.k = point.k;
    gemm.batch = point.batch;
    gemm.weight_gradient = point.transpose == calib::Transpose::NT;
    gemm.precision = Precision::fp32;
    const double flops = 2.0 * static_cast<double>(point.m) * static_cast<double>(point.n) *
                         static_cast<double>(point.k);
    samples.push_back({gemm, Seconds{measured.timing.seconds}, flops >= kLargeProduct});
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
/// seconds beside a reduction of r, all in t, it is (t - p g) / r. Nothing where it was not
/// measured.
std::optional<double> communication_share(const Records& records) {
  std::optional<double> gemm, gemm_together, reduction, together;
  for_each_point<calib::OverlapPoint>(records, [&](const auto& point, const auto& measured) {
    const bool of_gemm = point.timed == calib::Activity::gemm;
    (of_gemm ? gemm : reduction) = measured.alone_seconds;
    (of_gemm ? gemm_together : together) = measured.timing.seconds;
  });
  if (!gemm || !reduction) return {};
  const double products = std::max(1.0, std::round(*reduction / *gemm));
  const double by_gemm = (*gemm_together - *gemm) * products / *reduction;
  const double by_reduction = (*together - products * *gemm) / *reduction;
  return std::clamp((by_gemm + by_reduction) / 2, 0.0, 1.0);
}

void set_machine(const calib::DeviceFacts& device, const Records& records, GpuDraft& draft) {
  GpuProfile& gpu = draft.profile;
  gpu.description = fmt::format("one core of {}", device.name);
  gpu.sms = 1;
  gpu.memory = Bytes{static_cast<double>(device.memory_bytes) /
                     static_cast<double>(std::max<std::int64_t>(device.gpus, 1))};
  draft.state("", Sources::core, "derived: a core is a device of one unit");
  draft.state("memory", Sources::machine, "the machine's memory, an equal part for each rank");
  if (const auto share = communication_share(records)) {
    gpu.communication_share = fit::rounded(*share);
    draft.state("communication_share", Sources::overlap,
                fmt::format("an all-reduce beside products, over the same alone: {}",
                            draft.provenance.text(2)));
  }
}

/// A ring over two ranks takes two steps and S / bandwidth: so that it takes what was measured.
std::optional<LinkDraft> link_draft(const Records& records, const std::string& name,
                                    const Provenance& provenance) {
  std::vector<fit::Message> messages;
  fit::Samples samples;
  double ranks = 2;
  Bytes largest = kLeastMessage;
  for_each_point<calib::CollectivePoint>(records, [&](const auto& point, const auto& measured) {
    const Bytes bytes{static_cast<double>(point.bytes)};
    if (point.op != calib::Collective::all_reduce || bytes < kLeastMessage) return;
    ranks = static_cast<double>(point.gpus);
    largest = std::max(largest, bytes);
    const Seconds seconds{measured.timing.seconds};
    messages.push_back({bytes, seconds});
    samples.push_back({MemoryBound{bytes}, seconds, bytes >= kLargeMessage});
  });
  if (messages.size() < 3) return {};
  const fit::Line line = fit::line_through(messages);
  const double steps = 2 * (ranks - 1);
  LinkDraft draft;
  draft.provenance = provenance;
  draft.profile.name = name;
  draft.profile.latency = fit::rounded(line.latency * (1 / steps), 1e-6);
  draft.profile.bandwidth =
      fit::rounded(BytesPerSecond{steps / ranks / line.seconds_per_byte}, 1e9);
  draft.profile.efficiency = 1;
  FamilyReport report{.family = fmt::format("all-reduce, {:.0f} ranks", ranks), .path = ""};
  report.errors = fit::errors_of(
      [&](const Work& work) { return line.time(std::get<MemoryBound>(work).bytes); }, samples);
  report.held_out = false;
  report.range = fmt::format("{} to {}", humanise(kLeastMessage).text(), humanise(largest).text());
  report.remark = fmt::format("{:.4g} us, {:.4g} GB/s", line.latency.seconds() * 1e6,
                              1e-9 / line.seconds_per_byte);
  draft.state("", "all-reduce", fit_source(provenance, report));
  draft.families.push_back(report);
  return draft;
}

struct Reading {
  Seconds latency;
  std::optional<BytesPerSecond> rate;
};

/// Files that were read before; nothing where too few were.
std::optional<Reading> warm_reads(const Records& records) {
  std::vector<fit::Message> messages;
  for_each_point<calib::FileReadPoint>(records, [&](const auto& point, const auto& measured) {
    if (point.cache == calib::PageCache::warm)
      messages.push_back(
          {Bytes{static_cast<double>(point.bytes)}, Seconds{measured.timing.seconds}});
  });
  if (messages.size() < 2) return {};
  const fit::Line line = fit::line_through(messages);
  if (line.seconds_per_byte <= 0) return Reading{line.latency, {}};
  return Reading{line.latency, BytesPerSecond{1 / line.seconds_per_byte}};
}

std::optional<Seconds> decoding(const Records& records) {
  std::optional<Seconds> seconds;
  for_each_point<calib::DecodePoint>(records, [&](const auto& point, const auto& measured) {
    if (point.width == kPictureWidth && point.height == kPictureHeight)
      seconds = Seconds{measured.timing.seconds};
  });
  return seconds;
}

/// "{latency: 3 us, bandwidth: 8 GB/s}"; what the fit has none of is left out.
std::string storage_text(const Reading& reading) {
  std::vector<std::string> parts;
  if (reading.latency > Seconds{})
    parts.push_back(fmt::format("latency: {:.4g} us", reading.latency.seconds() * 1e6));
  if (reading.rate)
    parts.push_back(fmt::format("bandwidth: {:.4g} GB/s", reading.rate->bytes_per_second() / 1e9));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

/// What loads pictures of this machine's disk, once they are in the page cache; "" where it was not
/// measured.
std::string data_text(const Records& records) {
  const auto decode = decoding(records);
  const auto reading = warm_reads(records);
  if (!decode || !reading) return "";
  return fmt::format(
      "# JPEG files of {}x{} pixels in the page cache, as measured; their size: judgement, quality "
      "90.\n"
      "data:\n"
      "  sample_size: {}\n"
      "  storage: {}\n"
      "  decode: {:.4g} us\n"
      "  workers: 1\n"
      "  prefetch: 2\n"
      "  pinned: false\n",
      kPictureWidth, kPictureHeight, kPictureBytes, storage_text(*reading),
      decode->seconds() * 1e6);
}

std::string cluster_text(const std::string& name, std::int64_t ranks, bool linked,
                         const Provenance& provenance) {
  std::string text = fmt::format(
      "# Cores of this machine as devices, by stepsim calibrate cpu.\n"
      "# Measured with as many of them at work: {}, {}.\n"
      "name: {}\ngpu: {}\nnodes: 1\ngpus_per_node: {}\n",
      provenance.device, provenance.date, name, name, ranks);
  if (linked) text += fmt::format("intra_node: {}\n", name);
  return text;
}

/// A core is left to loaders where the machine has one.
std::string scenario_text(const std::string& name, std::int64_t measured, int cores,
                          const Records& records) {
  const std::int64_t ranks = std::clamp<std::int64_t>(cores - 1, 1, measured);
  return fmt::format(
      "# A training to start from on this machine, by stepsim calibrate cpu.\n"
      "model: {{name: mlp, kind: mlp, layers: 8, width: 1024, bias: false}}\n"
      "cluster: {{base: {}, gpus_per_node: {}}}\n"
      "training: {{global_batch: {}, micro_batch: 64, precision: fp32, gradient_clipping: false}}\n"
      "parallelism:\n"
      "  data: {{sharding: ddp, bucket: 4 MiB}}\n"
      "# Kernels are calls: nothing is launched.\n"
      "host: {{launch: 0 us, cores: {}, threads: 1}}\n"
      "{}",
      name, ranks, 64 * ranks, cores, cores > ranks ? data_text(records) : "");
}

/// Generations are NVIDIA's; a reader that finds none takes what it takes for all others.
std::string without_architecture(std::string text) {
  const std::size_t begin = text.find("\narchitecture: ");
  return begin == std::string::npos ? text : text.erase(begin, text.find('\n', begin + 1) - begin);
}

}  // namespace

CpuProfile cpu_profile(const MeasuredFile& file, const std::string& name, int cores) {
  constexpr std::uint64_t kSeed = 1;
  Records records;
  for (const calib::Record& record : file.content.records)
    if (record.skipped.empty()) records.push_back(record);
  const calib::DeviceFacts& device = file.content.device;
  const Provenance provenance{file.name.substr(file.name.find_last_of('/') + 1), device.name,
                              file.content.started.substr(0, 10)};
  GpuDraft gpu;
  gpu.provenance = provenance;
  gpu.profile.name = name;
  set_machine(device, records, gpu);
  set_memory(records, kSeed, gpu);
  set_products(records, kSeed, gpu);
  const std::string title = fmt::format("{}, by stepsim calibrate cpu.", gpu.profile.description);
  CpuProfile made;
  made.gpu_text = without_architecture(profile_yaml(gpu.profile, title, gpu.sources));
  (void)parse_gpu(made.gpu_text, name + ".yaml");
  made.families = gpu.families;
  if (const auto link = link_draft(records, name, provenance)) {
    made.link_text =
        profile_yaml(link->profile, "MPI between processes of this machine.", link->sources);
    (void)parse_link(made.link_text, name + ".yaml");
    made.families.insert(made.families.end(), link->families.begin(), link->families.end());
  }
  const std::int64_t ranks = made.link_text.empty() ? 1 : device.gpus;
  made.cluster_text = cluster_text(name, ranks, !made.link_text.empty(), provenance);
  made.scenario_text = scenario_text(name, ranks, cores, records);
  return made;
}

}  // namespace stepsim
