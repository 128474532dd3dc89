// Fits of attention: records to samples, one entry of a profile for each kernel and head size.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/calibrate/fit/attention.hpp"
#include "sim/calibrate/measurement/memory_bytes.hpp"
#include "sim/calibrate/profile/profile_draft.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {
namespace {

constexpr Flops kLargeAttention{2e10};  // judgement: a layer of a micro-batch does more

/// A kernel of attention and its head size.
using AttentionKey = std::pair<std::string, int>;

Bytes keys_and_values(const AttentionPoint& point) {
  return Bytes{2.0 * static_cast<double>(element_bytes(point.dtype)) *
               static_cast<double>(point.batch) * static_cast<double>(point.sequence) *
               static_cast<double>(point.kv_heads) * static_cast<double>(point.head_dim)};
}

std::map<AttentionKey, fit::Samples> attention_samples(const Records& records) {
  std::map<AttentionKey, fit::Samples> samples;
  for_each_point<AttentionPoint>(records, [&](const auto& point, const auto& measured) {
    if (!is_fitted(point)) return;
    const std::string kernel = name_of(point.kernel);
    const FusedAttention work{.kernel = kernel,
                              .batch = point.batch,
                              .heads = point.heads,
                              .head_dim = point.head_dim,
                              .sequence = point.sequence,
                              .backward = point.pass == AttentionPass::backward,
                              .causal = point.causal};
    fit::TimedWork sample{work, Seconds{measured.timing.seconds}, work.flops() > kLargeAttention};
    if (point.cache_write) sample.cached = keys_and_values(point);
    samples[{kernel, static_cast<int>(point.head_dim)}].push_back(sample);
  });
  return samples;
}

/// The kernels that samples show; what a fit says of others is no measurement.
struct MeasuredPasses {
  bool causal = false, full = false, backward = false;

  explicit MeasuredPasses(const fit::Samples& samples) {
    for (const fit::TimedWork& sample : samples) {
      const FusedAttention& work = std::get<FusedAttention>(sample.work);
      (work.backward ? backward : work.causal ? causal : full) = true;
    }
  }
  bool forward() const { return causal || full; }
};

/// The entry of that kernel and head size, or a new one like the nearest.
std::size_t entry_of(const AttentionKey& key, std::vector<AttentionProfile>& entries) {
  const auto distance = [&](const AttentionProfile& entry) {
    constexpr int kOtherKernel = 10'000;  // more than heads can differ by: the kernel comes first
    return std::abs(entry.head_dim - key.second) + (entry.kernel == key.first ? 0 : kOtherKernel);
  };
  const auto nearest = std::ranges::min_element(
      entries, [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  if (nearest != entries.end() && distance(*nearest) == 0)
    return static_cast<std::size_t>(nearest - entries.begin());
  AttentionProfile entry = nearest == entries.end() ? AttentionProfile{} : *nearest;
  entry.kernel = key.first;
  entry.head_dim = key.second;
  entries.push_back(entry);
  return entries.size() - 1;
}

Extent<std::int64_t> sequences_of(const fit::Samples& samples) {
  const std::int64_t first = std::get<FusedAttention>(samples.front().work).sequence;
  Extent<std::int64_t> range{first, first};
  for (const fit::TimedWork& sample : samples) {
    range.least = std::min(range.least, std::get<FusedAttention>(sample.work).sequence);
    range.most = std::max(range.most, std::get<FusedAttention>(sample.work).sequence);
  }
  return range;
}

/// A fit to one half judged by the other, or by its own where there are too few.
fit::Errors attention_errors(const fit::Samples& samples, const fit::AttentionFit& all,
                             const AttentionProfile& start, int sms, double cache,
                             std::uint64_t seed) {
  const fit::Samples seen = fit::half_of(samples, seed, false);
  if (samples.size() < fit::kFewestToSplit || !MeasuredPasses(seen).forward())
    return fit::attention_errors(all, sms, samples);
  return fit::attention_errors(fit::fit_attention(seen, start, sms, cache), sms,
                               fit::half_of(samples, seed, true));
}

/// `cache`: seconds a byte, which the fit was given; 0: no sample has a write of the cache.
std::string remark_of(const fit::AttentionFit& fit, const MeasuredPasses& measured, double cache) {
  const AttentionProfile& p = fit.profile;
  std::vector<std::string> parts;
  const auto add_rate = [&](const char* mask, FlopsPerSecond plateau, double half) {
    parts.push_back(fmt::format("{} {:.4g} TFLOP/s s / (s + {:.3g})", mask,
                                plateau.flops_per_second() / 1e12, half));
  };
  if (measured.causal) add_rate("causal", p.plateau, p.half_sequence);
  if (measured.full) add_rate("full", p.full_plateau, p.full_half_sequence);
  if (measured.backward)
    parts.push_back(fmt::format("backward {:.3g} times that", p.backward_rate));
  std::string text =
      fmt::format("{}; {:.3g} us", fmt::join(parts, ", "), p.overhead.microseconds());
  if (measured.causal) text += fmt::format(" and a last tile of {:.3g} queries", p.last_tile);
  if (cache > 0)
    text += fmt::format("; not in the profile: the write of the cache, {} {:.3g} GB/s",
                        fit.cache_seconds_per_byte == cache ? "taken to have" : "at",
                        1e-9 / fit.cache_seconds_per_byte);
  return text;
}

/// Where the constants of an entry come from that its points do not show.
void state_unmeasured(const MeasuredPasses& measured, const std::string& path, GpuDraft& draft) {
  const auto derived = [&](const char* key, const char* id, const char* text) {
    draft.state(path + "." + key, id, text);
  };
  constexpr const char* kFull =
      "derived: not measured; the plateau with a causal mask, and a third of its half_sequence";
  constexpr const char* kCausal =
      "derived: not measured; the plateau without a mask, and three times its half_sequence";
  if (!measured.full) {
    derived("full_plateau", "attention-full", kFull);
    derived("full_half_sequence", "attention-full", kFull);
  }
  if (!measured.causal) {
    derived("plateau", "attention-causal", kCausal);
    derived("half_sequence", "attention-causal", kCausal);
    draft.sources.of[path + ".last_tile"] = "base";
  }
  if (!measured.backward) draft.sources.of[path + ".backward_rate"] = "base";
}

/// Attention in precisions that a profile has no place for.
void report_left_out(const Records& records, GpuDraft& draft) {
  std::map<std::string, int> left_out;
  for_each_point<AttentionPoint>(records, [&](const auto& point, const auto&) {
    if (!is_fitted(point))
      ++left_out[fmt::format("attention {} {}", name_of(point.kernel), name_of(point.dtype))];
  });
  for (const auto& [family, points] : left_out) {
    draft.not_fitted(family, "",
                     fmt::format("{} points left out: profiles have attention in 16 bits", points));
  }
}

/// Seconds a byte of writing a cache, alike in all samples; 0 where none was timed with such a
/// write.
double shown_cache(const fit::Samples& samples, double cache) {
  const bool any = std::ranges::any_of(
      samples, [](const fit::TimedWork& sample) { return sample.cached > Bytes{}; });
  return any ? cache : 0;
}

}  // namespace

// Profiles have attention of one precision.
bool is_fitted(const AttentionPoint& point) {
  return point.dtype == Precision::bf16 || point.dtype == Precision::fp16;
}

void fit_attention_kernels(const Records& records, std::uint64_t seed, GpuDraft& draft) {
  const int sms = draft.profile.sms;
  report_left_out(records, draft);
  // Read and written by a kernel that does nothing else.
  const double cache = 2 / draft.profile.memory_kernels.elementwise.bytes_per_second();
  for (const auto& [key, samples] : attention_samples(records)) {
    const MeasuredPasses measured(samples);  // forward passes among them (fittable_points.hpp)
    const std::size_t known = draft.profile.attention.size();
    const std::size_t entry = entry_of(key, draft.profile.attention);
    AttentionProfile& profile = draft.profile.attention[entry];
    const AttentionProfile start = profile;
    const fit::AttentionFit fitted = fit::fit_attention(samples, start, sms, cache);
    profile = fitted.profile;
    profile.range.sequence = sequences_of(samples);
    FamilyReport report{.family = fmt::format("attention {}, head {}", key.first, key.second),
                        .path = fmt::format("attention[{}]", entry),
                        .errors = attention_errors(samples, fitted, start, sms, cache, seed),
                        .held_out = samples.size() >= fit::kFewestToSplit,
                        .range = "sequence " + write_scalar(*profile.range.sequence)};
    report.errors.points = static_cast<int>(samples.size());
    if (entry < known)
      report.base_errors =
          fit::attention_errors({start, fitted.cache_seconds_per_byte}, sms, samples);
    report.remark = remark_of(fitted, measured, shown_cache(samples, cache));
    draft.fitted(report);
    state_unmeasured(measured, report.path, draft);
  }
}

}  // namespace stepsim
