// The time to expect with a checkpoint every so many steps, and the number of steps that is best.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/horizon/journey.hpp"

namespace stepsim {

/// Mean time from one durable checkpoint to the next one, `every` steps on, failures included.
///
/// With failures at rate l (Poisson), recovery R and an undisturbed time X from the end of a
/// recovery to the next durable checkpoint, a failure costs (e^(l (R + X)) - 1) / l until then:
/// the mean time to get through R + X without a failure (Daly 2006, "A higher order estimate of
/// the optimum checkpoint interval for restart dumps", Future Generation Computer Systems 22,
/// section 3). Undisturbed, durable checkpoints follow each other L apart; a failure comes before
/// that with probability 1 - e^(-l L). So by renewal theory the mean is
///
///     (1 - e^(-l L)) / l + (1 - e^(-l L)) (e^(l (R + X)) - 1) / l
///         = (1 - e^(-l L)) e^(l (R + X)) / l.
///
/// A checkpoint that blocks until it is durable has L = X = steps + checkpoint, which leaves Daly's
/// complete model, e^(l R) (e^(l L) - 1) / l. One that is written beside the steps has
/// L = steps + blocking + slowdown, or the writing alone where that is longer, and
/// X = steps + durable. Infinite where it is beyond what a double holds.
Seconds expected_interval(const Journey& journey, std::int64_t every);

/// The expected shares of the time of a long run. Each failure begins a recovery, which the next
/// failure cuts short: recoveries of R take 1 - e^(-l R) of all time.
TimeSpent expected_shares(const Journey& journey, std::int64_t every);

/// The steps between checkpoints for which the expected time is shortest. It is exact, for the time
/// per step falls up to it and rises behind. Absent where nothing fails: no checkpoint is best.
std::optional<std::int64_t> best_interval(const Journey& journey);

/// The first-order optimum, sqrt(2 d M) between checkpoints that cost d, with M the mean time
/// between failures (Young 1974, "A first order approximation to the optimum checkpoint interval",
/// Communications of the ACM 17). REQUIRES: failures.
Seconds young_interval(const Journey& journey);

/// The higher-order optimum, sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + (d / 2M) / 9) - d below d = 2 M,
/// else M (Daly 2006, equation 37). REQUIRES: failures.
Seconds daly_interval(const Journey& journey);

}  // namespace stepsim
