// Computes prices of steps, days, tokens and waits.
#include "sim/report/measure/cost.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sim/text/humanise.hpp"

namespace stepsim {

RunCost cost_of(GpuPrice price, int gpus, double step, double waits, double samples_per_s,
                double tokens_per_s) {
  RunCost cost;
  cost.per_hour = price.dollars_per_hour * gpus;
  const double per_second = cost.per_hour / 3600;
  cost.per_step = per_second * step;
  cost.per_day = cost.per_hour * 24;
  if (samples_per_s > 0) cost.per_million_samples = 1e6 * per_second / samples_per_s;
  if (tokens_per_s > 0) cost.per_million_tokens = 1e6 * per_second / tokens_per_s;
  if (step > 0) cost.wasted_fraction = waits / step;
  return cost;
}

std::string dollars(double value) {
  if (value > 0 && value < 5e-7) return "less than 0.000001 $";
  if (value > 0 && value < 0.995) return fmt::format("{:#.3g} $", value);
  const std::int64_t cents = std::llround(value * 100);
  return fmt::format("{}.{:02} $", grouped(cents / 100), cents % 100);
}

}  // namespace stepsim
