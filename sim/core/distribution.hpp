// Distributions of factors, by name: how far durations lie apart.
//
// A distribution is a value; each has its own file. It is given by its mean and its standard
// deviation, whatever its usual parameters are, so that one can be exchanged for another. Draws are
// made by inversion: a draw is the quantile of a uniform number (random.hpp).
#pragma once

#include <functional>
#include <string_view>
#include <vector>

namespace stepsim {

/// The parameters that a distribution is given.
struct Spread {
  double mean = 1;
  double sigma = 0;            ///< standard deviation, in units of the mean
  std::vector<double> values;  ///< measured values, for `empirical` alone
  bool operator==(const Spread&) const = default;
};

/// Maps a share (between 0 and 1, both excluded) to the number below which that share of all draws
/// lie.
using Quantile = std::function<double(double share)>;

struct Distribution {
  std::string_view name;
  std::string_view description;
  bool takes_sigma = true;  ///< false: it takes values instead of a sigma
  double most_sigma = 0;    ///< sigma above which draws would be negative; 0: no such limit
  /// REQUIRES: sigma > 0, or values that are greater than 0.
  Quantile (*quantile)(const Spread& spread);
};

}  // namespace stepsim
