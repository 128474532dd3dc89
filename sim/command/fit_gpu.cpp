// Kernels, copies and launches: records to samples, fits to constants of a profile.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/command/profile_draft.hpp"
#include "sim/core/error.hpp"
#include "sim/fit/attention.hpp"
#include "sim/fit/line.hpp"
#include "sim/fit/memory.hpp"
#include "sim/report/humanise.hpp"

namespace stepsim {
namespace {

using namespace stepsim::literals;

constexpr Bytes kLargeTensor = 64_MiB;  // a micro-batch's activations; smaller ones may stay in L2
constexpr Flops kLargeAttention{2e10};
constexpr Bytes kLargeCopy = 1_MiB;

MemoryRate rate_of(calib::MemoryOp op) {
  switch (op) {
    case calib::MemoryOp::copy:
    case calib::MemoryOp::add:
    case calib::MemoryOp::sum:
      return MemoryRate::elementwise;
    case calib::MemoryOp::norm:
      return MemoryRate::norm;
    case calib::MemoryOp::softmax:
      return MemoryRate::softmax;
    case calib::MemoryOp::dropout:
      return MemoryRate::dropout;
    case calib::MemoryOp::cross_entropy:
      return MemoryRate::loss;
    case calib::MemoryOp::adam:
      return MemoryRate::optimizer;
  }
  throw InternalError("a memory-bound kernel without a class");
}

/// Key of a class in a profile.
const char* name_of(MemoryRate rate) {
  switch (rate) {
    case MemoryRate::elementwise:
      return "elementwise";
    case MemoryRate::norm:
      return "norm";
    case MemoryRate::softmax:
      return "softmax";
    case MemoryRate::dropout:
      return "dropout";
    case MemoryRate::loss:
      return "loss";
    case MemoryRate::optimizer:
      return "optimizer";
    case MemoryRate::permute:
      return "permute";
  }
  throw InternalError("a class of memory-bound kernels without a name");
}

std::string size_range(const std::vector<Bytes>& sizes) {
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  return fmt::format("{} to {}", humanise(*least).text(), humanise(*most).text());
}

fit::Samples memory_samples(const Records& records) {
  fit::Samples samples;
  for_each_point<calib::MemoryPoint>(records, [&](const auto& point, const auto& measured) {
    const Bytes bytes{static_cast<double>(point.bytes)};
    samples.push_back({MemoryBound{bytes, rate_of(point.op)}, Seconds{measured.timing.seconds},
                       bytes >= kLargeTensor});
  });
  return samples;
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
  for (const auto& [kind, bandwidth] : all.rates) {
    std::vector<Bytes> sizes;
    for (const fit::TimedWork& sample : of_class(samples, kind))
      sizes.push_back(std::get<MemoryBound>(sample.work).bytes);
    FamilyReport report{.family = fmt::format("memory {}", name_of(kind)),
                        .path = fmt::format("memory_kernels.{}", name_of(kind)),
                        .held_out = split,
                        .range = size_range(sizes)};
    report.errors = fit::errors_of(memory_model(of_half), of_class(kept, kind));
    report.errors.points = static_cast<int>(sizes.size());
    report.remark = fmt::format("{:.4g} GB/s", bandwidth.bytes_per_second() / 1e9);
    draft.fitted(report);
  }
  if (all.latency_shown)
    draft.state("memory_kernels.latency", "latency",
                fmt::format("fitted with the rates to {}",
                            draft.provenance.text(static_cast<int>(samples.size()))));
}

namespace {

/// A kernel of attention and its head size.
using AttentionKey = std::pair<std::string, int>;

std::map<AttentionKey, fit::Samples> attention_samples(const Records& records) {
  std::map<AttentionKey, fit::Samples> samples;
  for_each_point<calib::AttentionPoint>(records, [&](const auto& point, const auto& measured) {
    const std::string kernel = calib::name_of(point.kernel);
    const FusedAttention work{.kernel = kernel,
                              .batch = point.batch,
                              .heads = point.heads,
                              .head_dim = point.head_dim,
                              .sequence = point.sequence,
                              .backward = point.pass == calib::AttentionPass::backward,
                              .causal = point.causal};
    samples[{kernel, static_cast<int>(point.head_dim)}].push_back(
        {work, Seconds{measured.timing.seconds}, work.flops() > kLargeAttention});
  });
  return samples;
}

bool has(const fit::Samples& samples, bool backward) {
  return std::any_of(samples.begin(), samples.end(), [&](const fit::TimedWork& sample) {
    return std::get<FusedAttention>(sample.work).backward == backward;
  });
}

/// The entry of that kernel and head size, or a new one like the nearest.
std::size_t entry_of(const AttentionKey& key, std::vector<AttentionProfile>& entries) {
  const auto distance = [&](const AttentionProfile& entry) {
    return std::abs(entry.head_dim - key.second) + (entry.kernel == key.first ? 0 : 10'000);
  };
  const auto nearest =
      std::min_element(entries.begin(), entries.end(),
                       [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  if (nearest != entries.end() && distance(*nearest) == 0)
    return static_cast<std::size_t>(nearest - entries.begin());
  AttentionProfile entry = nearest == entries.end() ? AttentionProfile{} : *nearest;
  entry.kernel = key.first;
  entry.head_dim = key.second;
  entries.push_back(entry);
  return entries.size() - 1;
}

std::string sequence_range(const fit::Samples& samples) {
  std::int64_t least = std::get<FusedAttention>(samples.front().work).sequence, most = least;
  for (const fit::TimedWork& sample : samples) {
    least = std::min(least, std::get<FusedAttention>(sample.work).sequence);
    most = std::max(most, std::get<FusedAttention>(sample.work).sequence);
  }
  return fmt::format("sequence {} to {}", least, most);
}

}  // namespace

void fit_attention_kernels(const Records& records, std::uint64_t seed, GpuDraft& draft) {
  const int sms = draft.profile.sms;
  for (const auto& [key, samples] : attention_samples(records)) {
    if (!has(samples, false))
      throw UserError(fmt::format(
          "attention {}, head {}: backward passes alone do not give a rate; measure forward "
          "passes, too",
          key.first, key.second));
    const std::size_t entry = entry_of(key, draft.profile.attention);
    AttentionProfile& profile = draft.profile.attention[entry];
    const auto fitted = fit::fit_and_hold_out(
        samples, seed,
        [&](const fit::Samples& some) {
          return has(some, false) ? fit::fit_attention(some, profile, sms) : profile;
        },
        [&](const AttentionProfile& some) { return fit::attention_model(some, sms); });
    profile = fitted.constants;
    FamilyReport report{.family = fmt::format("attention {}, head {}", key.first, key.second),
                        .path = fmt::format("attention[{}]", entry),
                        .errors = fitted.errors,
                        .held_out = fitted.held_out,
                        .range = sequence_range(samples)};
    report.errors.points = static_cast<int>(samples.size());
    report.remark = fmt::format("{:.4g} TFLOP/s", profile.plateau.flops_per_second() / 1e12);
    draft.fitted(report);
    if (!has(samples, true)) draft.sources.of[report.path + ".backward_rate"] = "base";
  }
}

namespace {

/// What the simulator makes of a copy: its bytes over its rate.
fit::Errors copy_errors(const std::vector<fit::Message>& copies, BytesPerSecond bandwidth) {
  fit::Samples samples;
  for (const fit::Message& copy : copies)
    samples.push_back({MemoryBound{copy.bytes}, copy.seconds, copy.bytes >= kLargeCopy});
  return fit::errors_of(
      [&](const Work& work) { return std::get<MemoryBound>(work).bytes / bandwidth; }, samples);
}

}  // namespace

void fit_copies(const Records& records, GpuDraft& draft) {
  std::map<std::pair<calib::HostMemory, calib::Direction>, std::vector<fit::Message>> copies;
  for_each_point<calib::CopyPoint>(records, [&](const auto& point, const auto& measured) {
    copies[{point.host, point.direction}].push_back(
        {Bytes{static_cast<double>(point.bytes)}, Seconds{measured.timing.seconds}});
  });
  for (const auto& [key, messages] : copies) {
    const auto& [host, direction] = key;
    const bool pinned = host == calib::HostMemory::pinned;
    const fit::Line line = fit::line_through(messages);
    std::vector<Bytes> sizes;
    for (const fit::Message& message : messages) sizes.push_back(message.bytes);
    FamilyReport report{
        .family = fmt::format("copy {} {}", calib::name_of(direction), calib::name_of(host)),
        .path = pinned ? "copy_pinned" : "copy_pageable",
        .held_out = false,
        .range = size_range(sizes)};
    report.remark =
        fmt::format("{:.3g} us + bytes / {:.4g} GB/s, R2 {:.4f}", line.latency.microseconds(),
                    1e-9 / line.seconds_per_byte, line.r_squared);
    const BytesPerSecond bandwidth = fit::rounded(BytesPerSecond{1 / line.seconds_per_byte}, 1e9);
    report.errors = copy_errors(messages, bandwidth);
    if (direction == calib::Direction::h2d) {
      (pinned ? draft.profile.copy_pinned : draft.profile.copy_pageable) = bandwidth;
      draft.fitted(report);
    } else {
      report.path.clear();  // profiles have the rate to the device alone
      draft.families.push_back(report);
    }
  }
}

void fit_launches(const Records& records, GpuDraft& draft) {
  for_each_point<calib::LaunchPoint>(records, [&](const auto& point, const auto& measured) {
    const Seconds time{measured.timing.seconds};
    FamilyReport report{.family = fmt::format("launch {}", calib::name_of(point.cost)),
                        .held_out = false};
    report.errors.points = 1;
    report.remark = humanise(time).text();
    if (point.cost == calib::LaunchCost::host) report.remark += ": `host.launch` of a scenario";
    const bool needed = draft.sources.of.count("memory_kernels.latency") == 0;
    if (point.cost == calib::LaunchCost::stream && needed) {
      draft.profile.memory_kernels.latency = fit::rounded(time, 1e-6);
      draft.state("memory_kernels.latency", "launch",
                  "measured: back-to-back empty kernels, " + draft.provenance.text(1));
    }
    draft.families.push_back(report);
  });
}

}  // namespace stepsim
