// Factors of a few constants by measured steps.
//
// The logarithm of a step's time is taken as linear in the logarithms of the factors, and each of
// these is held near 0 by what is known of such machines. With residuals r, sensitivities S, noise
// sigma of a measured step and standard deviations tau of what is known, the factors' logarithms
// are x = (S^T S / sigma^2 + diag(1 / tau^2))^-1 S^T r / sigma^2, and the inverse is their
// covariance (Gelman et al., Bayesian Data Analysis, section 14.8: regression with a normal prior).
#pragma once

#include <vector>

namespace stepsim::fit {

struct StepFactors {
  std::vector<double> logs;  ///< natural logarithms of the factors
  std::vector<double> sd;    ///< their standard deviations
};

/// `sensitivities`: d ln(step) / d ln(constant), a row a step; `residuals`: ln(measured /
/// predicted) of each step with no factor; `known_sd`: of each factor's logarithm before anything
/// was measured; `noise_sd`: of a measured step, relative. REQUIRES: positive deviations.
StepFactors step_factors(const std::vector<std::vector<double>>& sensitivities,
                         const std::vector<double>& residuals, const std::vector<double>& known_sd,
                         double noise_sd);

}  // namespace stepsim::fit
