// A search over the rate, the three half sizes, the overhead and the weight gradient's factor.
#include "sim/calibrate/fit/smooth_gemm.hpp"

#include <algorithm>
#include <cmath>

#include "sim/calibrate/fit/minimise.hpp"
#include "sim/cluster/kernel_time.hpp"

namespace stepsim::fit {
namespace {

// Judgement: so that `efficiency`, which begins at 0.97 and ends at 1, has room on both sides.
constexpr double kPeakOverFastest = 1.05;
/// Judgement: bounds, wide for any CPU: a core's panels have some hundred rows at most, a call
/// takes microseconds.
constexpr double kMostHalf = 500, kMostOverhead = 1e-4;

bool is_weight_gradient(const TimedWork& sample) {
  return std::get<Gemm>(sample.work).weight_gradient;
}

double flops_of(const TimedWork& sample) {
  const Gemm& g = std::get<Gemm>(sample.work);
  return 2.0 * static_cast<double>(g.batch) * static_cast<double>(g.m) * static_cast<double>(g.n) *
         static_cast<double>(g.k);
}

double mean_log_error(const Model& model, const Samples& samples) {
  double sum = 0;
  for (const TimedWork& sample : samples)
    sum += std::abs(std::log(model(sample.work) / sample.seconds));
  return sum / static_cast<double>(samples.size());
}

}  // namespace

Model smooth_gemm_model(const GemmProfile& profile, BytesPerSecond memory_bandwidth) {
  GpuProfile device;
  device.sms = 1;
  device.memory_bandwidth = memory_bandwidth;
  device.gemm = {profile};
  return [device](const Work& work) { return kernel_time(work, device); };
}

GemmProfile fit_smooth_gemm(const Samples& samples, GemmProfile start,
                            BytesPerSecond memory_bandwidth) {
  double fastest = 0;
  for (const TimedWork& sample : samples)
    fastest = std::max(fastest, flops_of(sample) / sample.seconds.seconds());
  start.peak = rounded(FlopsPerSecond{kPeakOverFastest * fastest}, 1e9);
  const bool has_gradients = std::ranges::any_of(samples, is_weight_gradient);
  const auto profile_of = [&](const std::vector<double>& x) {
    GemmProfile profile = start;
    profile.efficiency = x[0];
    profile.form = SmoothGemm{.half_m = x[1], .half_n = x[2], .half_k = x[3]};
    profile.overhead = Seconds{x[4] * 1e-6};
    profile.weight_gradient = has_gradients ? x[5] : 1;
    return profile;
  };
  const auto error = [&](const std::vector<double>& x) {
    return mean_log_error(smooth_gemm_model(profile_of(x), memory_bandwidth), samples);
  };
  std::vector<Parameter> parameters{{0.97, 0.3, 1},
                                    {10, 0, kMostHalf},
                                    {10, 0, kMostHalf},
                                    {10, 0, kMostHalf},
                                    {1, 0, kMostOverhead * 1e6}};
  if (has_gradients) parameters.push_back({1, 0.3, 3});
  std::vector<double> found = minimise(error, parameters);
  for (double& number : found) number = rounded(number);
  return profile_of(found);
}

}  // namespace stepsim::fit
