// Distributions of factors, by name: how far durations lie apart.
//
// A distribution is a value; each has its own file. It is given by its mean and its standard
// deviation, whatever its usual parameters are, so that one can be exchanged for another. Numbers
// are drawn by inversion: the quantile of a uniform one (random.hpp).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim {

/// What a distribution is told.
struct Spread {
  double mean = 1;
  double sigma = 0;            ///< standard deviation, in units of the mean
  std::vector<double> values;  ///< empirical: what was measured
  bool operator==(const Spread&) const = default;
};

/// The number below which that share (between 0 and 1, both excluded) of all draws lie.
using Quantile = std::function<double(double share)>;

struct Distribution {
  std::string_view name;
  std::string_view description;
  bool takes_sigma = true;  ///< false: it takes values
  double most_sigma = 0;    ///< above it draws would be negative; 0: any will do
  /// REQUIRES: sigma > 0, or values that are greater than 0.
  Quantile (*quantile)(const Spread& spread);
};

}  // namespace stepsim
