// What a run costs, and how much of that pays for waiting.
#pragma once

#include <string>

#include "sim/scenario/cost.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// Hours of a month as clouds count it: 30 days.
inline constexpr double kMonthHours = 720;

/// The dollars of all GPUs together.
struct RunCost {
  double per_hour = 0, per_step = 0, per_day = 0;
  double per_million_tokens = 0;  ///< 0: there are no tokens
  double per_million_samples = 0;
  double wasted_fraction = 0;  ///< share of the GPUs' time in which they wait
  double wasted_per_month() const { return month_of(wasted_fraction); }
  /// The dollars that a share of all time costs in a month.
  double month_of(double fraction) const { return per_hour * kMonthHours * fraction; }
};

/// The cost of a run. `waits` are the seconds that a mean GPU does not compute in a step of `step`
/// seconds.
RunCost cost_of(GpuPrice price, int gpus, double step, double waits, double samples_per_s,
                double tokens_per_s);

/// A price as text: "2,764.80 $", "0.00222 $"; in cents, or in three digits below a dollar.
std::string dollars(double value);

}  // namespace stepsim
