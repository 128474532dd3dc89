// Plateau, half sequence, overhead and the rest of one attention kernel.
#include "sim/fit/attention.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/cluster/kernel_time.hpp"
#include "sim/fit/minimise.hpp"

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

/// Which constants the samples determine.
struct Shown {
  bool causal = false, full = false, backward = false;

  explicit Shown(const Samples& samples) {
    for (const TimedWork& sample : samples) {
      const FusedAttention& kernel = kernel_of(sample);
      if (kernel.backward) {
        backward = true;
      } else {
        (kernel.causal ? causal : full) = true;
      }
    }
  }
};

/// One constant as a number to search for, and how it is put into a profile.
struct Constant {
  Parameter parameter;
  std::function<void(AttentionProfile&, double)> set;
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

std::vector<Constant> constants_of(const Samples& samples, const Shown& shown) {
  std::vector<Constant> constants;
  // Plateaus as logarithms over the fastest sample, tokens as logarithms of 1 + tokens.
  const auto add_rate = [&](bool causal, FlopsPerSecond AttentionProfile::*plateau,
                            double AttentionProfile::*half) {
    const FlopsPerSecond unit = fastest(samples, causal);
    constants.push_back({{0.1, -0.5, 1.0}, [=](AttentionProfile& p, double value) {
                           p.*plateau = unit * std::exp(value);
                         }});
    constants.push_back(
        {{5, 0, 9}, [=](AttentionProfile& p, double value) { p.*half = std::expm1(value); }});
  };
  if (shown.causal) {
    add_rate(true, &AttentionProfile::plateau, &AttentionProfile::half_sequence);
    constants.push_back(
        {{64, 0, 512}, [](AttentionProfile& p, double value) { p.last_tile = value; }});
  }
  if (shown.full)
    add_rate(false, &AttentionProfile::full_plateau, &AttentionProfile::full_half_sequence);
  if (shown.backward)
    constants.push_back(
        {{std::log(0.8), std::log(0.2), std::log(3.0)},
         [](AttentionProfile& p, double value) { p.backward_rate = std::exp(value); }});
  constants.push_back(
      {{std::log(5e-6), std::log(1e-7), std::log(1e-3)},
       [](AttentionProfile& p, double value) { p.overhead = Seconds{std::exp(value)}; }});
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

}  // namespace

AttentionProfile fit_attention(const Samples& samples, const AttentionProfile& start, int sms) {
  const Shown shown(samples);
  const std::vector<Constant> constants = constants_of(samples, shown);
  GpuProfile gpu = gpu_of(start, sms);
  const auto set = [&](const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      constants[i].set(gpu.attention.front(), values[i]);
    follow(gpu.attention.front(), shown);
  };
  std::vector<Parameter> parameters;
  for (const Constant& constant : constants) parameters.push_back(constant.parameter);
  set(minimise(
      [&](const std::vector<double>& values) {
        set(values);
        double sum = 0;
        for (const TimedWork& sample : samples)
          sum += std::abs(std::log(kernel_time(sample.work, gpu) / sample.seconds));
        return sum / static_cast<double>(samples.size());
      },
      parameters));
  return rounded_to_digits(gpu.attention.front());
}

Model attention_model(const AttentionProfile& profile, int sms) {
  return [gpu = gpu_of(profile, sms)](const Work& work) { return kernel_time(work, gpu); };
}

}  // namespace stepsim::fit
