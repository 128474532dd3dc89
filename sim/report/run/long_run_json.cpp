// Writes checkpoints and long runs for programs.
#include "sim/report/run/long_run_json.hpp"

namespace stepsim {
namespace {

Json shares_of(const TimeSpent& s) {
  return {{"useful", number(s.useful)},   {"checkpoints", number(s.checkpoints)},
          {"lost", number(s.lost)},       {"detection", number(s.detection)},
          {"restart", number(s.restart)}, {"reload", number(s.reload)}};
}

Json best_of(const std::optional<BestInterval>& best) {
  if (!best) return nullptr;
  return {{"every_steps", best->every},
          {"expected_goodput", number(best->goodput)},
          {"young_s", number(best->young)},
          {"daly_s", number(best->daly)}};
}

}  // namespace

Json checkpoint_json(const Metrics& m) {
  if (!m.checkpoint) return nullptr;
  const CheckpointCost& c = *m.checkpoint;
  return {{"every_steps", c.every},
          {"mode", c.async ? "async" : "sync"},
          {"bytes", number(c.size)},
          {"blocking_s", number(c.times.blocking)},
          {"slowdown_s", number(c.times.slowdown)},
          {"durable_s", number(c.times.durable)},
          {"step_without_s", number(c.step)},
          {"step_with_share_s", number(c.shared_step())},
          {"fraction", number(c.fraction())}};
}

Json long_run_json(const Metrics& m) {
  if (!m.long_run) return nullptr;
  const LongRun& run = *m.long_run;
  const double tokens = m.tokens_per_s * m.step_time.seconds() * run.steps;
  Json json{{"wall_s", number(run.wall)},
            {"steps", number(run.steps)},
            {"tokens", m.has_tokens ? number(tokens) : Json()},
            {"goodput", number(run.shares.useful)},
            {"least_goodput", number(run.least_goodput)},
            {"most_goodput", number(run.most_goodput)},
            {"expected_goodput", run.every > 0 ? number(run.expected_goodput) : Json()},
            {"shares", shares_of(run.shares)},
            {"failures", number(run.interruptions)},
            {"mtbf_s", number(1 / run.failures.rate.base())},
            {"histories", run.histories},
            {"sampled_steps", run.sampled},
            {"step_p50_s", number(run.p50)},
            {"step_p95_s", number(run.p95)},
            {"step_p99_s", number(run.p99)},
            {"step_max_s", number(run.most)},
            {"best", best_of(run.best)}};
  json["cost_dollars"] = m.cost ? number(m.cost->per_hour * run.wall.seconds() / 3600) : Json();
  return json;
}

}  // namespace stepsim
