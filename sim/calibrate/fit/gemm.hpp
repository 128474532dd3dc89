// GEMMs: the constants of one precision, by the models of sim/cluster/gemm/.
//
// The closed form first: the least mean |log(modelled / measured)| over its constants. Then, when
// it is asked for, the correction of what is left (gemm_correction.hpp).
#pragma once

#include <cstdint>

#include "sim/calibrate/fit/sample.hpp"
#include "sim/cluster/gemm/gemm.hpp"

namespace stepsim::fit {

struct GemmOptions {
  bool correction = false;  ///< tiled form only
  /// Bytes for each element of A that the measured times include for quantising it, at 0.8 of the
  /// bandwidth; the profile leaves them out.
  double quantised_bytes = 0;
  /// Fits to other random halves, over which the errors are means.
  int halves = 3;
  std::uint64_t seed = 1;
};

struct GemmFit {
  GemmProfile profile;  ///< fitted to all samples, with their range; the rest is as in `start`
  Errors held_out;      ///< errors of fits to halves, on the other halves
  Errors bare;          ///< `held_out` without the correction
};

/// Fits the form that `start` has; among its other constants only those on which benchmarks of
/// GEMMs have an effect. Deterministic. REQUIRES: samples of Gemm alone, at least kFewestToSplit,
/// with times greater than 0.
GemmFit fit_gemm(const Samples& samples, const GemmProfile& start, const GemmDevice& device,
                 const GemmOptions& options = {});

/// Times as a benchmark sees them: without `sustained` and the other factors of training.
Model gemm_model(const GemmProfile& profile, const GemmDevice& device,
                 const GemmOptions& options = {});

/// The least and the most m, n and k of samples of Gemm.
GemmRange range_of(const Samples& samples);

/// GEMMs above 0.2 TFLOP are large.
bool is_large(const Gemm& gemm);

}  // namespace stepsim::fit
