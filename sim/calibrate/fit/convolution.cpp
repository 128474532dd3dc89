// Factors of convolutions as ratios of sums.
#include "sim/calibrate/fit/convolution.hpp"

#include <map>

#include "sim/cluster/kernel_time.hpp"
#include "sim/core/error.hpp"

namespace stepsim::fit {
namespace {

const Convolution& kernel_of(const TimedWork& sample) { return std::get<Convolution>(sample.work); }

/// The GPU in a benchmark, with these factors in all precisions.
GpuProfile in_benchmark(GpuProfile gpu, const ConvolutionProfile& profile) {
  for (GemmProfile& gemm : gpu.gemm) {
    gemm.sustained = 1;
    gemm.convolution = profile;
  }
  return gpu;
}

}  // namespace

ConvolutionFactor factor_of(const Convolution& c) {
  if (c.computed() == Precision::fp32 && c.filter == 3 && c.stride == 1)
    return ConvolutionFactor::winograd;
  switch (c.pass) {
    case ConvolutionPass::forward:
      return ConvolutionFactor::forward;
    case ConvolutionPass::input_gradient:
      return ConvolutionFactor::input_gradient;
    case ConvolutionPass::weight_gradient:
      return ConvolutionFactor::weight_gradient;
  }
  throw InternalError("a convolution without a pass");
}

double& factor_in(ConvolutionProfile& profile, ConvolutionFactor factor) {
  switch (factor) {
    case ConvolutionFactor::forward:
      return profile.forward;
    case ConvolutionFactor::input_gradient:
      return profile.input_gradient;
    case ConvolutionFactor::weight_gradient:
      return profile.weight_gradient;
    case ConvolutionFactor::winograd:
      return profile.winograd;
  }
  throw InternalError("a convolution without a factor");
}

ConvolutionProfile fit_convolution(const Samples& samples, const GpuProfile& gpu) {
  struct Sums {
    Seconds measured, modelled;
  };
  std::map<ConvolutionFactor, Sums> sums;
  const GpuProfile bare = in_benchmark(gpu, ConvolutionProfile{});
  for (const TimedWork& sample : samples) {
    Sums& of_factor = sums[factor_of(kernel_of(sample))];
    of_factor.measured += sample.seconds;
    of_factor.modelled += kernel_time(sample.work, bare);
  }
  ConvolutionProfile profile = gemm_profile(gpu, kernel_of(samples.front()).computed()).convolution;
  for (const auto& [factor, times] : sums)
    factor_in(profile, factor) = rounded(times.measured / times.modelled);
  return profile;
}

Errors convolution_errors(const ConvolutionProfile& profile, const GpuProfile& gpu,
                          const Samples& samples) {
  const GpuProfile with = in_benchmark(gpu, profile);
  return errors_of([&](const Work& work) { return kernel_time(work, with); }, samples);
}

}  // namespace stepsim::fit
