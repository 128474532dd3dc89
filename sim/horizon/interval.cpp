// Renewal theory of checkpoints.
#include "sim/horizon/interval.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim {
namespace {

/// The times L and X of interval.hpp, in which no failure happens.
struct Undisturbed {
  Seconds between;    ///< L
  Seconds recovered;  ///< X
};

Undisturbed undisturbed(const Journey& j, std::int64_t every) {
  const Seconds steps = j.step * static_cast<double>(every);
  return {undisturbed_interval(steps, j.checkpoint), steps + j.checkpoint.durable};
}

/// The logarithm of the mean time from one durable checkpoint to the next.
double log_expected(const Journey& j, std::int64_t every) {
  const auto [between, recovered] = undisturbed(j, every);
  const double rate = j.failures.rate.base();
  if (rate == 0) return std::log(between.seconds());
  const double most = (j.failures.recovery() + recovered).seconds() * rate;
  return std::log(-std::expm1(-rate * between.seconds())) + most - std::log(rate);
}

/// Time per step of progress, as a logarithm.
double log_per_step(const Journey& j, std::int64_t every) {
  return log_expected(j, every) - std::log(static_cast<double>(every));
}

/// The time that one checkpoint takes from the training.
double cost(const Journey& j) { return (j.checkpoint.blocking + j.checkpoint.slowdown).seconds(); }

}  // namespace

Seconds expected_interval(const Journey& journey, std::int64_t every) {
  return Seconds{std::exp(log_expected(journey, every))};
}

TimeSpent expected_shares(const Journey& j, std::int64_t every) {
  const Seconds between = expected_interval(j, every);
  const Failures& f = j.failures;
  // The probability that no failure comes within `time`.
  const auto goes_on = [&](Seconds time) { return std::exp(-f.rate.base() * time.seconds()); };
  const double detected = goes_on(f.detection), restarted = goes_on(f.detection + f.restart);
  // A checkpoint slows or delays only an interval in which no failure happens.
  const Seconds steps = j.step * static_cast<double>(every);
  const Seconds apart = undisturbed(j, every).between;
  const Seconds disturbed = apart - steps - j.checkpoint.blocking;
  TimeSpent shares{.useful = steps / between,
                   .checkpoints = (j.checkpoint.blocking + disturbed * goes_on(apart)) / between,
                   .detection = 1 - detected,
                   .restart = detected - restarted,
                   .reload = restarted - goes_on(f.recovery())};
  shares.lost = std::max(1 - shares.total(), 0.0);
  return shares;
}

std::optional<std::int64_t> best_interval(const Journey& journey) {
  if (journey.failures.rate.base() <= 0) return std::nullopt;
  // The time per step rises beyond the mean time between failures: its derivative there is that of
  // e^x / x at 1.
  constexpr double kMostSteps = 1e18;  // an integer has room for them
  const double between_failures = std::ceil(1 / (journey.failures.rate * journey.step)) + 1;
  std::int64_t low = 1;
  auto high = static_cast<std::int64_t>(std::min(between_failures, kMostSteps));
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (log_per_step(journey, middle + 1) < log_per_step(journey, middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

Seconds young_interval(const Journey& journey) {
  return Seconds{std::sqrt(2 * cost(journey) / journey.failures.rate.base())};
}

Seconds daly_interval(const Journey& journey) {
  const double mean = 1 / journey.failures.rate.base();
  const double half = cost(journey) / (2 * mean);
  if (half >= 1) return Seconds{mean};
  return Seconds{2 * mean * std::sqrt(half) * (1 + std::sqrt(half) / 3 + half / 9) - cost(journey)};
}

}  // namespace stepsim
