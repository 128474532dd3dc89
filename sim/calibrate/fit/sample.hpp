// What all fits share: measured times, errors of a model against them, and a half that is kept from
// a fit.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/ops/work.hpp"

namespace stepsim::fit {

/// A kernel and what it took.
struct TimedWork {
  Work work;
  Seconds seconds;
  bool large = false;        ///< the kind that fills a training step
  Bytes cached;              ///< attention: keys and values that were written into a cache, too
  bool with_launch = false;  ///< memory-bound: the time has that of a launch on an idle GPU in it
};
using Samples = std::vector<TimedWork>;

/// Statistics of |modelled / measured - 1|, as shares.
struct Errors {
  int points = 0;
  double mean = 0, median = 0, p90 = 0;
  int large = 0;  ///< points that are large
  double large_mean = 0;
  double pace = 1;  ///< measured over modelled, geometric mean: above 1 where the model is too fast
};

using Model = std::function<Seconds(const Work&)>;

/// Zero everywhere for no samples.
Errors errors_of(const Model& model, const Samples& samples);
/// Errors of a model that looks at more of a sample than its work.
Errors errors_of_times(const std::function<Seconds(const TimedWork&)>& model,
                       const Samples& samples);

/// Whether point `index` of a family is kept from the fit that its error is taken from: every other
/// one, by lot. Equal seeds keep equal points.
bool is_held_out(std::uint64_t seed, std::size_t index);

/// The points of one half.
template <class T>
std::vector<T> half_of(const std::vector<T>& points, std::uint64_t seed, bool held_out) {
  std::vector<T> half;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (is_held_out(seed, i) == held_out) half.push_back(points[i]);
  return half;
}

/// Fewer points than that are all fitted: half of them would say nothing.
inline constexpr std::size_t kFewestToSplit = 8;

/// To four significant digits: what a measurement supports.
double rounded(double value);
template <int S, int B, int F>
Quantity<S, B, F> rounded(Quantity<S, B, F> value, double unit) {
  return Quantity<S, B, F>{rounded(value.base() / unit) * unit};
}

}  // namespace stepsim::fit
