// Plateau, half sequence, overhead and the rest of one attention kernel.
#include "sim/calibrate/fit/attention.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/calibrate/fit/minimise.hpp"
#include "sim/cluster/kernel_time.hpp"

namespace stepsim::fit {
namespace {

const FusedAttention& kernel_of(const TimedWork& sample) {
  return std::get<FusedAttention>(sample.work);
}

GpuProfile gpu_of(const AttentionProfile& profile, int sms) {
  GpuProfile gpu;
  gpu.sms = sms;
  gpu.attention = {profile};
  return gpu;
}

/// Elements.
double queries_of(const FusedAttention& kernel) {
  return static_cast<double>(kernel.batch * kernel.heads) *
         static_cast<double>(kernel.sequence * kernel.head_dim);
}

/// Which constants the samples determine.
struct Shown {
  bool causal = false, full = false, backward = false, cached = false;

  explicit Shown(const Samples& samples) {
    double first_share = 0;
    for (const TimedWork& sample : samples) {
      const FusedAttention& kernel = kernel_of(sample);
      const double share = sample.cached.bytes() / queries_of(kernel);
      if (&sample == &samples.front()) first_share = share;
      cached = cached || std::abs(share - first_share) > 0.01 * first_share;
      if (kernel.backward) {
        backward = true;
      } else {
        (kernel.causal ? causal : full) = true;
      }
    }
  }
};

/// A constant of the profile as a number to search for, and how it is put into the profile.
struct Constant {
  Parameter parameter;
  std::function<void(AttentionFit&, double)> set;
};

/// The highest rate of forward passes with or without a mask: a plateau lies somewhat above it.
FlopsPerSecond fastest(const Samples& samples, bool causal) {
  FlopsPerSecond best{1e9};
  for (const TimedWork& sample : samples) {
    const FusedAttention& kernel = kernel_of(sample);
    if (!kernel.backward && kernel.causal == causal)
      best = std::max(best, kernel.flops() / sample.seconds);
  }
  return best;
}

/// Starts and bounds are judgement: starts amid what the shipped profiles have. A plateau is at
/// least 0.6 of the fastest sample, a half sequence at most 8000 tokens, an overhead 0.1 us to 1
/// ms.
std::vector<Constant> constants_of(const Samples& samples, const Shown& shown) {
  std::vector<Constant> constants;
  // Plateaus as logarithms over the fastest sample, tokens as logarithms of 1 + tokens.
  const auto add_rate = [&](bool causal, FlopsPerSecond AttentionProfile::*plateau,
                            double AttentionProfile::*half) {
    const FlopsPerSecond unit = fastest(samples, causal);
    constants.push_back({{0.1, -0.5, 1.0}, [=](AttentionFit& f, double value) {
                           f.profile.*plateau = unit * std::exp(value);
                         }});
    constants.push_back(
        {{5, 0, 9}, [=](AttentionFit& f, double value) { f.profile.*half = std::expm1(value); }});
  };
  if (shown.causal) {
    add_rate(true, &AttentionProfile::plateau, &AttentionProfile::half_sequence);
    constants.push_back(
        {{64, 0, 512}, [](AttentionFit& f, double value) { f.profile.last_tile = value; }});
  }
  if (shown.full)
    add_rate(false, &AttentionProfile::full_plateau, &AttentionProfile::full_half_sequence);
  if (shown.backward)
    constants.push_back(
        {{std::log(0.8), std::log(0.2), std::log(3.0)},
         [](AttentionFit& f, double value) { f.profile.backward_rate = std::exp(value); }});
  constants.push_back(
      {{std::log(5e-6), std::log(1e-7), std::log(1e-3)},
       [](AttentionFit& f, double value) { f.profile.overhead = Seconds{std::exp(value)}; }});
  if (shown.cached) {
    // Around a terabyte a second, from the pins of the fastest memory to a tenth of it.
    constants.push_back(
        {{std::log(1e-12), std::log(1e-13), std::log(1e-10)},
         [](AttentionFit& f, double value) { f.cache_seconds_per_byte = std::exp(value); }});
  }
  return constants;
}

/// As where nothing else is known (calib/README.md, Attention).
void follow(AttentionProfile& p, const Shown& shown) {
  if (shown.causal && !shown.full) {
    p.full_plateau = p.plateau;
    p.full_half_sequence = p.half_sequence / 3;
  }
  if (shown.full && !shown.causal) {
    p.plateau = p.full_plateau;
    p.half_sequence = p.full_half_sequence * 3;
  }
}

AttentionProfile rounded_to_digits(AttentionProfile p) {
  p.plateau = rounded(p.plateau, 1e12);
  p.half_sequence = rounded(p.half_sequence);
  p.last_tile = rounded(p.last_tile);
  p.full_plateau = rounded(p.full_plateau, 1e12);
  p.full_half_sequence = rounded(p.full_half_sequence);
  p.backward_rate = rounded(p.backward_rate);
  p.overhead = rounded(p.overhead, 1e-6);
  return p;
}

/// The GPU of one kernel, whose time is asked for over and over.
class Timer {
 public:
  Timer(const AttentionFit& fit, int sms) : gpu_(gpu_of(fit.profile, sms)), fit_(fit) {}

  void set(const AttentionFit& fit) {
    gpu_.attention.front() = fit.profile;
    fit_ = fit;
  }
  Seconds time(const TimedWork& sample) const {
    return kernel_time(sample.work, gpu_) +
           Seconds{fit_.cache_seconds_per_byte * sample.cached.bytes()};
  }

 private:
  GpuProfile gpu_;
  AttentionFit fit_;
};

}  // namespace

AttentionFit fit_attention(const Samples& samples, const AttentionProfile& start, int sms,
                           double cache_seconds_per_byte) {
  const Shown shown(samples);
  const std::vector<Constant> constants = constants_of(samples, shown);
  const auto fit_of = [&](const std::vector<double>& values) {
    AttentionFit fit{start, cache_seconds_per_byte};
    for (std::size_t i = 0; i < values.size(); ++i) constants[i].set(fit, values[i]);
    follow(fit.profile, shown);
    return fit;
  };
  Timer timer({start, cache_seconds_per_byte}, sms);
  std::vector<Parameter> parameters;
  for (const Constant& constant : constants) parameters.push_back(constant.parameter);
  AttentionFit best = fit_of(minimise(
      [&](const std::vector<double>& values) {
        timer.set(fit_of(values));
        double sum = 0;
        for (const TimedWork& sample : samples)
          sum += std::abs(std::log(timer.time(sample) / sample.seconds));
        return sum / static_cast<double>(samples.size());
      },
      parameters));
  best.profile = rounded_to_digits(best.profile);
  return best;
}

Errors attention_errors(const AttentionFit& fit, int sms, const Samples& samples) {
  const Timer timer(fit, sms);
  return errors_of_times([&](const TimedWork& sample) { return timer.time(sample); }, samples);
}

}  // namespace stepsim::fit
