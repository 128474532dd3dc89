// Long runs: renewal theory against Young, Daly and histories drawn event by event.
#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "sim/horizon/long_run.hpp"

using namespace stepsim;

namespace {

constexpr double kHour = 3600;

/// A checkpoint that blocks until it is durable.
Journey blocking(double step, double checkpoint, double mean_between_failures, double recovery) {
  const Seconds c{checkpoint};
  return {Seconds{step},
          {c, Seconds{0}, c},
          {PerSecond{1 / mean_between_failures}, Seconds{recovery / 4}, Seconds{recovery / 2},
           Seconds{recovery / 4}}};
}

Travel travel_of(const Journey& journey, std::int64_t every, double time) {
  return {{journey.step}, journey.checkpoint, every, journey.failures, {.time = Seconds{time}}};
}

/// Many histories of that run, one after the other.
History far(const Journey& journey, std::int64_t every, double failures) {
  const double time = failures / journey.failures.rate.base();
  return draw_history(travel_of(journey, every, time), RandomKey(7));
}

}  // namespace

TEST_CASE("without failures an interval is its steps and its checkpoint") {
  const Journey j{2_s, {5_s, 1_s, 5_s}, {}};
  CHECK(expected_interval(j, 10).seconds() == doctest::Approx(26));
  CHECK_FALSE(best_interval(j).has_value());
  const TimeSpent shares = expected_shares(j, 10);
  CHECK(shares.useful == doctest::Approx(20.0 / 26));
  CHECK(shares.checkpoints == doctest::Approx(6.0 / 26));
  CHECK(shares.total() == doctest::Approx(1));
}

TEST_CASE("an interval of blocking checkpoints takes what Daly's complete model has") {
  // M e^(R / M) (e^((tau + delta) / M) - 1), equation 20, with M = 1 h, tau = 10 min, delta = 30 s,
  // R = 5 min: 3600 x e^(1/12) x (e^(630/3600) - 1) = 748.32.
  const Journey j = blocking(1, 30, kHour, 300);
  const double expected = kHour * std::exp(300 / kHour) * (std::exp(630 / kHour) - 1);
  CHECK(expected_interval(j, 600).seconds() == doctest::Approx(expected).epsilon(1e-12));
  CHECK(expected == doctest::Approx(748.32).epsilon(1e-5));
}

TEST_CASE("a checkpoint beside the steps is as one that blocks where it is durable at once") {
  Journey j = blocking(1, 30, kHour, 300);
  j.checkpoint.durable = 60_s;
  // (1 - e^(-l L)) e^(l (R + X)) / l with L = 630, X = 660 instead of 630.
  const double expected = kHour * (1 - std::exp(-630 / kHour)) * std::exp((300 + 660) / kHour);
  CHECK(expected_interval(j, 600).seconds() == doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE("parts of the time sum to all of it, in theory and in histories") {
  for (const double mean : {200.0, 1e4, 1e6}) {
    for (const double durable : {10.0, 40.0, 400.0}) {
      Journey j = blocking(1, 10, mean, 60);
      j.checkpoint.durable = Seconds{durable};
      j.checkpoint.slowdown = 2_s;
      CHECK(expected_shares(j, 100).total() == doctest::Approx(1));
      const History history = draw_history(travel_of(j, 100, 1e5), RandomKey(3));
      CHECK(history.time.total() == doctest::Approx(1e5));
    }
  }
}

TEST_CASE("histories spend their time as renewal theory expects") {
  struct Setting {
    double step, blocking, slowdown, durable, mean, recovery;
    std::int64_t every;
  };
  // Failures often and seldom; checkpoints that block, that are written beside the steps, and that
  // take longer to write than there are steps between them.
  for (const Setting& s : {Setting{2, 30, 0, 30, 3600, 300, 100},
                           {2, 30, 0, 30, 600, 300, 50},
                           {2, 3, 2, 60, 3600, 300, 100},
                           {2, 3, 2, 60, 600, 100, 20},
                           {2, 3, 2, 150, 1200, 100, 20},
                           {5, 0, 0, 0, 500, 0, 1}}) {
    CAPTURE(s.mean);
    CAPTURE(s.durable);
    Journey j = blocking(s.step, s.blocking, s.mean, s.recovery);
    j.checkpoint.slowdown = Seconds{s.slowdown};
    j.checkpoint.durable = Seconds{s.durable};
    // 3e4 failures: the standard deviation of what depends on them is about 1 / sqrt(3e4) of it.
    const History history = far(j, s.every, 3e4);
    const TimeSpent drawn = history.time.over(history.time.total());
    const TimeSpent expected = expected_shares(j, s.every);
    CHECK(drawn.useful == doctest::Approx(expected.useful).epsilon(0.01));
    CHECK(std::abs(drawn.lost - expected.lost) < 0.01);
    CHECK(std::abs(drawn.checkpoints - expected.checkpoints) < 0.01);
    CHECK(std::abs(drawn.detection - expected.detection) < 0.01);
    CHECK(std::abs(drawn.restart - expected.restart) < 0.01);
    CHECK(std::abs(drawn.reload - expected.reload) < 0.01);
  }
}

TEST_CASE("the best interval is no worse than its neighbours, or any other") {
  for (const double mean : {100.0, 3600.0, 1e5}) {
    for (const double durable : {5.0, 300.0}) {
      Journey j = blocking(1, 5, mean, 60);
      j.checkpoint.durable = Seconds{durable};
      const std::int64_t best = *best_interval(j);
      const double least = expected_interval(j, best) / Seconds{static_cast<double>(best)};
      for (std::int64_t every = 1; every < 20'000; every += every < 2000 ? 1 : 97) {
        const double time = expected_interval(j, every) / Seconds{static_cast<double>(every)};
        CHECK(time >= least * (1 - 1e-12));
      }
    }
  }
}

TEST_CASE("where failures hardly ever come checkpoints are hardly ever written") {
  for (const double mean : {1e20, 1e300})
    CHECK(*best_interval(blocking(1, 30, mean, 300)) > 1'000'000);
}

TEST_CASE("best interval and goodput are within 2 % of Young's and Daly's in their range") {
  // Where a checkpoint costs no more than 1/2000 of the mean time between failures Young's first
  // order is within 2 % (its next term is sqrt(d / 2M) / 3 - sqrt(d / 2M)); Daly's reaches further.
  for (const double mean : {kHour, 6 * kHour, 24 * kHour, 240 * kHour}) {
    for (const double share : {1e-5, 1e-4, 5e-4, 1e-3, 1e-2, 5e-2}) {
      for (const double recovery : {0.0, 60.0, 600.0}) {
        CAPTURE(mean);
        CAPTURE(share);
        const double step = share * mean / 100;  // short, so that whole steps do not matter
        const Journey j = blocking(step, share * mean, mean, recovery);
        const double best = static_cast<double>(*best_interval(j)) * step;
        const double goodput = expected_shares(j, *best_interval(j)).useful;
        const auto goodput_every = [&](Seconds interval) {
          return expected_shares(j, std::llround(interval.seconds() / step)).useful;
        };
        const double daly = daly_interval(j).seconds();
        CHECK(best == doctest::Approx(daly).epsilon(0.02));
        CHECK(goodput_every(daly_interval(j)) == doctest::Approx(goodput).epsilon(0.02));
        CHECK(goodput_every(young_interval(j)) == doctest::Approx(goodput).epsilon(0.02));
        if (share > 5e-4) continue;
        CHECK(best == doctest::Approx(young_interval(j).seconds()).epsilon(0.02));
        // First order: what checkpoints take, half an interval a failure, and a recovery.
        const double first_order = 1 - share * mean / best - best / (2 * mean) - recovery / mean;
        if (recovery < mean / 50) CHECK(goodput == doctest::Approx(first_order).epsilon(0.02));
      }
    }
  }
}

TEST_CASE("histories of a run with the best interval are within 2 % of Daly's goodput") {
  for (const double mean : {2 * kHour, 12 * kHour}) {
    const Journey j = blocking(5, 20, mean, 300);
    const std::int64_t every = *best_interval(j);
    CHECK(static_cast<double>(every) * 5 ==
          doctest::Approx(daly_interval(j).seconds()).epsilon(0.02));
    const double tau = static_cast<double>(every) * 5;
    const double daly = tau / (mean * std::exp(300 / mean) * (std::exp((tau + 20) / mean) - 1));
    const History history = far(j, every, 1e4);
    CHECK(history.time.useful / history.time.total() == doctest::Approx(daly).epsilon(0.02));
  }
}

TEST_CASE("without checkpoints a failure undoes everything") {
  Travel travel{{1_s}, {}, 0, {PerSecond{1e-3}, {}, {}, {}}, {.time = 1e6_s}};
  const History history = draw_history(travel, RandomKey(1));
  CHECK(history.failures > 900);
  CHECK(history.time.useful < 1e4);  // since the last failure
  travel.failures.rate = PerSecond{0};
  const History calm = draw_history(travel, RandomKey(1));
  CHECK(calm.failures == 0);
  CHECK(calm.steps == 1'000'000);
  CHECK(calm.time.useful == doctest::Approx(1e6));
}

TEST_CASE("a horizon in steps ends when so many survive") {
  const Journey j = blocking(2, 4, 500, 10);
  Travel travel = travel_of(j, 10, 0);
  travel.horizon = {.steps = 1000};
  const History history = draw_history(travel, RandomKey(1));
  CHECK(history.steps == 1000);
  CHECK(history.time.useful == doctest::Approx(2000));
  CHECK(history.failures > 0);
  CHECK(history.time.lost > 0);
  // 99 checkpoints: none after the last step.
  CHECK(history.time.checkpoints == doctest::Approx(99 * 4));
}

TEST_CASE("steps are drawn from the sample, and the percentiles are theirs") {
  // Three of four steps take 1 s, the fourth 2 s; every tenth has a checkpoint of 5 s.
  const Travel travel{{}, {5_s, 0_s, 5_s}, 10, {}, {.steps = 40'000}};
  const LongRun run = long_run(travel, {{1_s, 1_s, 1_s, 2_s}}, 3, RandomKey(5));
  CHECK(run.sampled == 4);
  CHECK(run.steps == doctest::Approx(40'000));
  CHECK(run.p50 == 1_s);
  CHECK(run.p95 == 6_s);  // 67.5 % take 1 s, 22.5 % 2 s, 7.5 % 6 s, 2.5 % 7 s
  CHECK(run.p99 == 7_s);
  CHECK(run.most == 7_s);
  CHECK(run.wall.seconds() == doctest::Approx(1.25 * 40'000 + 5 * 3999).epsilon(0.01));
  CHECK(run.shares.total() == doctest::Approx(1));
  CHECK_FALSE(run.best.has_value());
}

TEST_CASE("a step that waits for the write before has that in its percentiles") {
  // 2 steps of 1 s, a copy of 1 s, and 10 s until that is durable: the next copy waits for 7 s.
  const Travel travel{{}, {1_s, 0_s, 10_s}, 2, {}, {.steps = 1000}};
  const LongRun run = long_run(travel, {{1_s}}, 1, RandomKey(5));
  CHECK(run.p50 == 1_s);
  CHECK(run.p95.seconds() == doctest::Approx(9));
  CHECK(run.wall.seconds() == doctest::Approx(500 * 10).epsilon(0.01));
}

TEST_CASE("steps that are drawn together are as many, and take as long") {
  const Journey j = blocking(2, 4, 5000, 10);
  Travel travel = travel_of(j, 100, 1e6);
  const History each = draw_history(travel, RandomKey(1));
  travel.at_once = 64;
  const History together = draw_history(travel, RandomKey(1));
  CHECK(together.steps == each.steps);
  CHECK(together.failures == each.failures);
  CHECK(together.time.useful == doctest::Approx(each.time.useful));
  CHECK(together.time.checkpoints == doctest::Approx(each.time.checkpoints));
  CHECK(together.blocked == each.blocked);
}

TEST_CASE("histories depend on their key and on nothing else") {
  const Travel travel = travel_of(blocking(2, 4, 500, 10), 10, 1e5);
  const History a = draw_history(travel, RandomKey(1)), b = draw_history(travel, RandomKey(1));
  CHECK(a.time.useful == b.time.useful);
  CHECK(a.failures == b.failures);
  CHECK(draw_history(travel, RandomKey(2)).time.useful != a.time.useful);
}

TEST_CASE("a run that cannot end is refused") {
  Travel travel = travel_of(blocking(2, 4, 1e-6, 10), 10, 0);
  travel.horizon = {.steps = 1000};
  CHECK_THROWS_AS(draw_history(travel, RandomKey(1)), UserError);
}

TEST_CASE("the defaults interrupt 16,384 GPUs as often as Llama 3 405B was") {
  // Dubey et al. 2024, section 3.3.4: 419 unexpected interruptions in 54 days.
  const Reliability r;
  const double rate = 16'384 / r.gpu_mtbf.seconds() + 2'048 / r.node_mtbf.seconds();
  CHECK(rate * 54 * 24 * kHour == doctest::Approx(419).epsilon(0.005));
}
