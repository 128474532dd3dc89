// Convolutions: what they take over a GEMM of their implicit shape (sim/cluster/kernel_time.hpp).
#pragma once

#include "sim/calibrate/fit/sample.hpp"

namespace stepsim::fit {

/// Which factor of a profile a convolution has.
enum class ConvolutionFactor { forward, input_gradient, weight_gradient, winograd };

/// In fp32 3x3 filters of stride 1 have a factor of their own: there libraries use Winograd's
/// algorithm.
ConvolutionFactor factor_of(const Convolution& convolution);
double& factor_in(ConvolutionProfile& profile, ConvolutionFactor factor);

/// All measured times of each factor's convolutions over all modelled ones, so that their sum comes
/// out; factors without samples are as in the GPU's profile. Times as a benchmark sees them,
/// without `sustained`. REQUIRES: samples of Convolution, of one precision that the GPU has.
ConvolutionProfile fit_convolution(const Samples& samples, const GpuProfile& gpu);

/// With these factors, as a benchmark sees them.
Errors convolution_errors(const ConvolutionProfile& profile, const GpuProfile& gpu,
                          const Samples& samples);

}  // namespace stepsim::fit
