// Finds the factor of each group, and the constants that it falls upon.
#include "sim/calibrate/profile/recorded_rates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "sim/cluster/memory_rate.hpp"
#include "sim/scenario/attention_rate.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

constexpr double kWorthwhile = 0.01;  // judgement: a smaller share is known less well than its size

/// Judgement: what takes more than so many times as long, or less, is other work and no slower device.
constexpr double kMostFactor = 10;

/// Caches serve a part of what kernels move: rates that are so much above the memory's are not those
/// of the same kernels.
constexpr double kMostOverMemory = 1.25;

/// Times of groups that are found later may hang on those found before.
constexpr std::array kOrder{RateGroup::gemm,      RateGroup::attention,  RateGroup::convolution,
                            RateGroup::norm,      RateGroup::softmax,    RateGroup::loss,
                            RateGroup::optimizer, RateGroup::elementwise};

/// The factor of each group, and what a call takes besides.
struct Scaling {
  std::array<double, kRateGroups> factors;
  std::array<bool, kRateGroups> is_found{};
  Seconds latency;      ///< of the profile as it was
  double per_call = 0;  ///< seconds

  Scaling() { factors.fill(1); }
  double& of(RateGroup group) { return factors[static_cast<std::size_t>(group)]; }
  double of(RateGroup group) const { return factors[static_cast<std::size_t>(group)]; }
  /// Where no group but those of bytes has been found, its kernels take as long as before.
  double found(RateGroup group) const {
    return is_found[static_cast<std::size_t>(group)] ? of(group) : 1;
  }
};

double seconds_after(const PredictedKernel& kernel, double factor, const Scaling& scaling) {
  const auto* moved = std::get_if<MemoryBound>(&kernel.work);
  if (moved == nullptr) return factor * kernel.seconds + scaling.per_call;
  const double latency = scaling.latency.seconds();
  const double moving = std::sqrt(std::max(0.0, std::pow(kernel.seconds, 2) - latency * latency));
  return std::hypot(latency + scaling.per_call, factor * moving);
}

/// What the group's own kernels take in a step with that factor, and all others with theirs.
double step_after(const RecordedGroup& group, double factor, const Scaling& scaling) {
  double seconds = 0;
  for (const PredictedKernel& kernel : group.kernels) {
    const RateGroup own = group_of(kernel.work);
    const double its = own == group.group ? factor : scaling.found(own);
    seconds += kernel.calls * seconds_after(kernel, its, scaling);
  }
  return seconds;
}

/// The factor with which the group takes so long; nothing where the calls alone take longer.
std::optional<double> factor_for(const RecordedGroup& group, double seconds,
                                 const Scaling& scaling) {
  double least = 0, most = 1;
  if (step_after(group, least, scaling) >= seconds) return std::nullopt;
  while (step_after(group, most, scaling) < seconds) most *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (least + most) / 2;
    (step_after(group, middle, scaling) < seconds ? least : most) = middle;
  }
  return most;
}

double calls_of(const RecordedGroup& group) {
  double calls = 0;
  for (const PredictedKernel& kernel : group.kernels) calls += kernel.calls;
  return calls;
}

double predicted_seconds(const RecordedGroup& group) {
  double seconds = 0;
  for (const PredictedKernel& kernel : group.kernels) seconds += kernel.calls * kernel.seconds;
  return seconds;
}

bool has_own(const RecordedGroup& group) {
  return std::ranges::any_of(group.kernels, [&](const PredictedKernel& kernel) {
    return group_of(kernel.work) == group.group && kernel.seconds > 0;
  });
}

/// Why the factor is none of this device; empty: it may be.
std::string doubt(RateGroup group, double factor, const GpuProfile& gpu) {
  if (factor > kMostFactor || factor < 1 / kMostFactor)
    return fmt::format("x {:.3g}: other work was recorded under this name than is predicted",
                       factor);
  const bool moves_bytes =
      group != RateGroup::gemm && group != RateGroup::attention && group != RateGroup::convolution;
  // A core's caches hold what a GPU's do not.
  if (!moves_bytes || gpu.sms == 1) return "";
  for (const MemoryClass& one : kMemoryClasses) {
    const BytesPerSecond rate = gpu.memory_kernels.*one.rate / factor;
    if (group_of(Work{MemoryBound{{}, one.kind}}) == group &&
        rate > gpu.memory_bandwidth * kMostOverMemory)
      return fmt::format(
          "x {:.3g} is faster than the memory: less was recorded under this name "
          "than is predicted",
          factor);
  }
  return "";
}

ScaledGroup scaled(const RecordedGroup& group, double all_recorded, double all_predicted,
                   const GpuProfile& gpu, Scaling& scaling) {
  ScaledGroup result{group.title, predicted_seconds(group), group.recorded_s, 0, {}, ""};
  if (result.predicted_s < kWorthwhile * all_predicted &&
      result.recorded_s < kWorthwhile * all_recorded) {
    result.reason = "less than a hundredth of the step";
  } else if (result.recorded_s <= 0) {
    result.reason = "the recording has no such kernels";
  } else if (!has_own(group)) {
    result.reason = "the prediction has no such kernels";
  } else if (const auto factor = factor_for(
                 group, group.recorded_s + scaling.per_call * calls_of(group), scaling)) {
    result.reason = doubt(group.group, *factor, gpu);
    if (!result.reason.empty()) return result;
    result.factor = *factor;
    scaling.of(group.group) = *factor;
    scaling.is_found[static_cast<std::size_t>(group.group)] = true;
  } else {
    result.reason = "its calls alone would take longer than was recorded";
  }
  return result;
}

/// Writes factors into a draft, with their sources.
class Scaler {
 public:
  Scaler(const std::vector<RecordedGroup>& groups, std::string origin, GpuDraft& draft)
      : origin_(std::move(origin)), draft_(draft) {
    for (const RecordedGroup& group : groups) {
      for (const PredictedKernel& kernel : group.kernels) note(kernel.work);
    }
  }

  void apply(ScaledGroup& result, RateGroup group, const Scaling& scaling) {
    constants_.clear();
    id_ = "recorded-" + id_of(result.title);
    text_ = fmt::format("recorded in {}: time x {:.4g}", origin_, result.factor);
    if (group == RateGroup::gemm) {
      scale_products(result.factor);
    } else if (group == RateGroup::convolution) {
      scale_convolutions(result.factor, scaling.found(RateGroup::gemm));
    } else if (group == RateGroup::attention) {
      scale_attention(result.factor);
    } else {
      scale_bytes(group, result.factor);
    }
    result.constants = constants_;
  }

  /// Where products scale and convolutions do not, these stay what they were.
  void keep_convolutions(double products) {
    id_ = "kept-convolutions";
    text_ =
        fmt::format("derived: as before, over products that take {:.4g} times as long", products);
    scale_convolutions(1, products);
  }

  void add_to_calls(double seconds) {
    id_ = "recorded-calls";
    text_ =
        fmt::format("recorded in {}: {:.3g} us a call between operators", origin_, 1e6 * seconds);
    for (GemmProfile& gemm : draft_.profile.gemm) {
      if (!products_.contains(gemm.precision) && !convolved_.contains(gemm.precision)) continue;
      gemm.overhead = fit::rounded(gemm.overhead + Seconds{seconds / gemm.sustained}, 1e-6);
      state(fmt::format("gemm.{}.overhead", name_of(gemm.precision)));
    }
    Seconds& latency = draft_.profile.memory_kernels.latency;
    latency = fit::rounded(latency + Seconds{seconds}, 1e-6);
    state("memory_kernels.latency");
  }

 private:
  void note(const Work& work) {
    if (const auto* gemm = std::get_if<Gemm>(&work)) products_.insert(gemm->precision);
    if (const auto* convolution = std::get_if<Convolution>(&work))
      convolved_.insert(convolution->computed());
    if (const auto* attention = std::get_if<FusedAttention>(&work))
      attended_.insert(nearest_attention(draft_.profile, attention->kernel,
                                         static_cast<double>(attention->head_dim)));
  }

  void state(const std::string& path) {
    draft_.state(path, id_, text_);
    constants_.push_back(path);
  }

  void scale(double& constant, double factor, const std::string& path) {
    constant = fit::rounded(constant * factor);
    state(path);
  }

  void scale_products(double factor) {
    for (GemmProfile& gemm : draft_.profile.gemm) {
      if (products_.contains(gemm.precision))
        scale(gemm.sustained, factor, fmt::format("gemm.{}.sustained", name_of(gemm.precision)));
    }
  }

  /// Their factors are times over those of products, which may have scaled already.
  void scale_convolutions(double factor, double products) {
    for (GemmProfile& gemm : draft_.profile.gemm) {
      if (!convolved_.contains(gemm.precision)) continue;
      const double over = factor / (products_.contains(gemm.precision) ? products : 1);
      const std::string path = fmt::format("gemm.{}.convolution.", name_of(gemm.precision));
      ConvolutionProfile& c = gemm.convolution;
      scale(c.forward, over, path + "forward");
      scale(c.input_gradient, over, path + "input_gradient");
      scale(c.weight_gradient, over, path + "weight_gradient");
      if (c.winograd > 0) scale(c.winograd, over, path + "winograd");
    }
  }

  void scale_attention(double factor) {
    for (std::size_t i = 0; i < draft_.profile.attention.size(); ++i) {
      AttentionProfile& attention = draft_.profile.attention[i];
      if (!attended_.contains(&attention)) continue;
      const std::string path = fmt::format("attention[{}].", i);
      attention.plateau = fit::rounded(attention.plateau / factor, 1e12);
      attention.full_plateau = fit::rounded(attention.full_plateau / factor, 1e12);
      attention.overhead = fit::rounded(attention.overhead * factor, 1e-6);
      for (const char* key : {"plateau", "full_plateau", "overhead"}) state(path + key);
    }
  }

  void scale_bytes(RateGroup group, double factor) {
    for (const MemoryClass& kind : kMemoryClasses) {
      if (group_of(MemoryBound{{}, kind.kind}) != group) continue;
      BytesPerSecond& rate = draft_.profile.memory_kernels.*kind.rate;
      rate = fit::rounded(rate / factor, 1e9);
      state(fmt::format("memory_kernels.{}", kind.name));
    }
  }

  std::set<Precision> products_, convolved_;
  std::set<const AttentionProfile*> attended_;
  std::string origin_, id_, text_;
  std::vector<std::string> constants_;
  GpuDraft& draft_;
};

std::vector<CollectiveLine>* lines_of(LinkProfile& link, const std::string& operation) {
  if (operation == "all_reduce") return &link.all_reduce;
  if (operation == "all_gather") return &link.all_gather;
  if (operation == "reduce_scatter") return &link.reduce_scatter;
  return operation == "all_to_all" ? &link.all_to_all : nullptr;
}

}  // namespace

RateGroup group_of(const Work& work) {
  if (std::holds_alternative<Gemm>(work)) return RateGroup::gemm;
  if (std::holds_alternative<FusedAttention>(work)) return RateGroup::attention;
  if (std::holds_alternative<Convolution>(work)) return RateGroup::convolution;
  switch (std::get<MemoryBound>(work).rate) {
    case MemoryRate::norm:
      return RateGroup::norm;
    case MemoryRate::softmax:
      return RateGroup::softmax;
    case MemoryRate::loss:
      return RateGroup::loss;
    case MemoryRate::optimizer:
      return RateGroup::optimizer;
    default:
      return RateGroup::elementwise;
  }
}

std::vector<ScaledGroup> scale_to_recorded(const std::vector<RecordedGroup>& groups,
                                           double between_s, const std::string& origin,
                                           GpuDraft& draft) {
  const GpuProfile base = draft.profile;
  Scaling scaling;
  scaling.latency = draft.profile.memory_kernels.latency;
  double recorded = 0, predicted = 0, calls = 0;
  for (const RecordedGroup& group : groups) {
    recorded += group.recorded_s;
    predicted += predicted_seconds(group);
    calls += calls_of(group);
  }
  if (calls > 0) scaling.per_call = between_s / calls;
  std::vector<ScaledGroup> results;
  Scaler scaler(groups, origin, draft);
  for (const RateGroup one : kOrder) {
    for (const RecordedGroup& group : groups) {
      if (group.group != one) continue;
      ScaledGroup result = scaled(group, recorded, predicted, base, scaling);
      if (result.factor > 0) scaler.apply(result, one, scaling);
      results.push_back(std::move(result));
    }
  }
  if (scaling.found(RateGroup::gemm) != 1 &&
      !scaling.is_found[static_cast<std::size_t>(RateGroup::convolution)])
    scaler.keep_convolutions(scaling.of(RateGroup::gemm));
  if (scaling.per_call > 0) scaler.add_to_calls(scaling.per_call);
  return results;
}

std::vector<std::string> scale_link(double factor, const std::vector<std::string>& operations,
                                    const std::string& origin, LinkDraft& draft) {
  constexpr const char* kId = "recorded-collectives";
  const std::string text = fmt::format("recorded in {}: time x {:.4g}", origin, factor);
  LinkProfile& link = draft.profile;
  std::vector<std::string> paths;
  bool needs_rates = operations.empty();
  for (const std::string& operation : operations) {
    std::vector<CollectiveLine>* lines = lines_of(link, operation);
    needs_rates = needs_rates || lines == nullptr || lines->empty();
    if (lines == nullptr) continue;
    for (std::size_t i = 0; i < lines->size(); ++i) {
      CollectiveLine& line = (*lines)[i];
      line.latency = fit::rounded(line.latency * factor, 1e-6);
      line.bandwidth = fit::rounded(line.bandwidth / factor, 1e9);
      paths.push_back(fmt::format("{}[{}]", operation, i));
    }
  }
  if (needs_rates) {
    link.latency = fit::rounded(link.latency * factor, 1e-6);
    link.bandwidth = fit::rounded(link.bandwidth / factor, 1e9);
    paths.insert(paths.end(), {"latency", "bandwidth"});
  }
  for (const std::string& path : paths) draft.state(path, kId, text);
  return paths;
}

}  // namespace stepsim
