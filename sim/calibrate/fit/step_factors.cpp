// The normal equations of at most a handful of factors, by Gauss-Jordan elimination.
#include "sim/calibrate/fit/step_factors.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace stepsim::fit {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// REQUIRES: symmetric and positive definite, so that no pivot is 0.
Matrix inverse(Matrix a) {
  const std::size_t n = a.size();
  Matrix inverted(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i) inverted[i][i] = 1;
  for (std::size_t pivot = 0; pivot < n; ++pivot) {
    const double scale = 1 / a[pivot][pivot];
    for (std::size_t j = 0; j < n; ++j) {
      a[pivot][j] *= scale;
      inverted[pivot][j] *= scale;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (i == pivot) continue;
      const double times = a[i][pivot];
      for (std::size_t j = 0; j < n; ++j) {
        a[i][j] -= times * a[pivot][j];
        inverted[i][j] -= times * inverted[pivot][j];
      }
    }
  }
  return inverted;
}

}  // namespace

StepFactors step_factors(const Matrix& sensitivities, const std::vector<double>& residuals,
                         const std::vector<double>& known_sd, double noise_sd) {
  const std::size_t n = known_sd.size();
  const double weight = 1 / (noise_sd * noise_sd);
  Matrix information(n, std::vector<double>(n, 0));
  std::vector<double> pull(n, 0);
  for (std::size_t j = 0; j < n; ++j) information[j][j] = 1 / (known_sd[j] * known_sd[j]);
  for (std::size_t step = 0; step < residuals.size(); ++step) {
    const std::vector<double>& s = sensitivities[step];
    for (std::size_t j = 0; j < n; ++j) {
      pull[j] += weight * s[j] * residuals[step];
      for (std::size_t k = 0; k < n; ++k) information[j][k] += weight * s[j] * s[k];
    }
  }
  const Matrix covariance = inverse(std::move(information));
  StepFactors found{std::vector<double>(n, 0), std::vector<double>(n, 0)};
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < n; ++k) found.logs[j] += covariance[j][k] * pull[k];
    found.sd[j] = std::sqrt(covariance[j][j]);
  }
  return found;
}

}  // namespace stepsim::fit
