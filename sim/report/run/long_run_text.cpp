// Writes sentences about checkpoints and long runs.
#include "sim/report/run/long_run_text.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sim/text/humanise.hpp"

namespace stepsim {

std::string span_text(Seconds time) {
  const double seconds = time.seconds();
  if (seconds < 100) return humanise(time).text();
  if (seconds < 100 * 60) return three_digits(seconds / 60) + " min";
  if (seconds < 48 * 3600) return three_digits(seconds / 3600) + " h";
  const double days = seconds / (24 * 3600);
  if (days < 1000) return three_digits(days) + " days";
  const double years = days / 365.25;
  return years < 1e6 ? (years < 100 ? three_digits(years) : grouped(std::llround(years))) + " years"
                     : fmt::format("{:.2g} years", years);
}

namespace {

constexpr double kCalm = 1.001;  // factor by which two simulations of one step may differ

/// A number with its word: "1 history", "3 histories".
std::string counted(double count, const char* one, const char* many) {
  const std::int64_t whole = std::llround(count);
  return grouped(whole) + ' ' + (whole == 1 ? one : many);
}

std::string steps_text(double steps) { return counted(steps, "step", "steps"); }

std::string every_text(std::int64_t steps) {
  return steps == 1 ? "every step" : "every " + steps_text(static_cast<double>(steps));
}

std::string horizon_text(const Metrics& m) {
  const LongRun& run = *m.long_run;
  const double tokens = m.tokens_per_s * m.step_time.seconds() * run.steps;
  const std::string of_tokens =
      m.has_tokens ? fmt::format(" of {}", humanise(tokens, "tokens").text()) : "";
  const std::string drawn =
      fmt::format("each drawn from {} simulated one{}", run.sampled, run.sampled == 1 ? "" : "s");
  if (run.horizon.steps > 0) {
    return fmt::format("{}{}, {}, in {}", steps_text(run.steps), of_tokens, drawn,
                       span_text(run.wall));
  }
  return fmt::format("{}{} in {}, {}", steps_text(run.steps), of_tokens, span_text(run.wall),
                     drawn);
}

std::string parts_text(const LongRun& run) {
  const TimeSpent& s = run.shares;
  return fmt::format(
      "goodput {} ({} to {} in {}): checkpoints {}, lost work {}, detection {}, restart "
      "{}, reading checkpoints {}",
      percent(s.useful), percent(run.least_goodput), percent(run.most_goodput),
      counted(run.histories, "history", "histories"), percent(s.checkpoints), percent(s.lost),
      percent(s.detection), percent(s.restart), percent(s.reload));
}

std::string failures_text(const LongRun& run) {
  const Seconds between{1 / run.failures.rate.base()};
  const double few = run.interruptions;
  const std::string undone = run.every == 0 ? "; without checkpoints each undoes everything" : "";
  return fmt::format("{} on average, one in {}{}; steps p50 {}, p95 {}, p99 {}, longest {}",
                     few < 1000 ? fmt::format("{:.3g} failure{}", few,
                                              fmt::format("{:.3g}", few) == "1" ? "" : "s")
                                : counted(few, "failure", "failures"),
                     span_text(between), undone, span_text(run.p50), span_text(run.p95),
                     span_text(run.p99), span_text(run.most));
}

std::string best_text(const Metrics& m) {
  const BestInterval& best = *m.long_run->best;
  const Seconds apart = m.long_run->step * static_cast<double>(best.every);
  const std::string then = percent(best.goodput), now = percent(m.long_run->expected_goodput);
  return fmt::format("best: a checkpoint {} ({}; Young {}, Daly {}), expected goodput {}{}",
                     every_text(best.every), span_text(apart), span_text(best.young),
                     span_text(best.daly), then,
                     then == now ? " as with the present interval" : " instead of " + now);
}

/// The cost of those parts of the run's time that are not useful.
std::string cost_text(const Metrics& m) {
  const LongRun& run = *m.long_run;
  const double hours = run.wall.seconds() / 3600;
  const auto of = [&](double share) { return dollars(m.cost->per_hour * hours * share); };
  return fmt::format("{} in all, {} of it for lost work, {} for checkpoints, {} for recovery",
                     of(1), of(run.shares.lost), of(run.shares.checkpoints),
                     of(run.shares.detection + run.shares.restart + run.shares.reload));
}

}  // namespace

std::string checkpoint_text(const Metrics& m) {
  const CheckpointCost& c = *m.checkpoint;
  std::string text = fmt::format("{}, {}, {}: training waits {}", every_text(c.every),
                                 c.async ? "asynchronous" : "synchronous", humanise(c.size).text(),
                                 span_text(c.times.blocking));
  if (c.times.slowdown != Seconds{0})
    text += fmt::format(", the steps after it take {} {}",
                        span_text(Seconds{std::abs(c.times.slowdown.seconds())}),
                        c.times.slowdown > Seconds{0} ? "longer" : "less");
  // Jitter is left out of what a checkpoint costs, and makes a reported step longer.
  const bool is_calm = m.step_time <= c.step * kCalm;
  return text +
         fmt::format(", it is durable after {}; a step {}with its share of that: {}, {} of it",
                     span_text(c.times.durable), is_calm ? "" : "without jitter but ",
                     humanise(c.shared_step()).text(), percent(c.fraction()));
}

std::vector<std::string> long_run_text(const Metrics& m) {
  const LongRun& run = *m.long_run;
  std::vector<std::string> parts{horizon_text(m), parts_text(run), failures_text(run)};
  if (run.best) parts.push_back(best_text(m));
  if (m.cost) parts.push_back(cost_text(m));
  if (m.energy) {
    const double kwh = m.energy->kwh(run.wall, run.shares.idle());
    parts.push_back(fmt::format("{} and {} of CO2e in all", energy_text(kwh),
                                carbon_text(m.energy->kg_of_co2e(kwh))));
  }
  return parts;
}

}  // namespace stepsim
