// The result as JSON: what programs read.
#include "sim/report/json_number.hpp"
#include "sim/report/run/result_json.hpp"
#include "sim/report/run/run_report.hpp"

namespace stepsim {
namespace {

Json peak_of(const PeakMoment& peak) {
  return {{"pass", name_of(peak.pass.pass)},
          {"micro_batch", peak.pass.micro_batch},
          {"chunk", peak.pass.chunk},
          {"block", peak.block},
          {"op", peak.op}};
}

Json stage_of(const StageMemory& stage) {
  Json categories = Json::object();
  for (const MemoryCategory& c : stage.categories) categories[c.name] = number(c.bytes);
  return {{"stage", stage.stage},
          {"total_bytes", number(stage.total())},
          {"allocated_bytes", number(stage.allocated())},
          {"peak", peak_of(stage.peak)},
          {"categories_bytes", categories}};
}

Json memory_of(const Memory& memory) {
  if (memory.stages.empty()) return nullptr;
  return {{"peak_bytes", number(memory.worst().total())},
          {"allocated_bytes", number(memory.worst().allocated())},
          {"peak_time_s", number(memory.peak_time)},
          {"capacity_bytes", number(memory.capacity)},
          {"fits", memory.fits()},
          {"worst_stage", memory.worst().stage},
          {"stages", list_json(memory.stages, stage_of)}};
}

Json replicas_of(const std::optional<Replicas>& replicas) {
  if (!replicas) return nullptr;
  const Statistics& s = replicas->statistics;
  return {{"count", s.count},
          {"asked", replicas->asked},
          {"mean_s", number(s.mean)},
          {"confidence_95_s", number(s.confidence)},
          {"sigma_s", number(s.sigma)},
          {"median_s", number(s.median)},
          {"p95_s", number(s.p95)},
          {"least_s", number(s.least)},
          {"most_s", number(s.most)},
          {"median_replica", replicas->median},
          {"steps_s", seconds_json(replicas->steps)}};
}

Json chaos_of(const std::optional<Chaos>& chaos) {
  if (!chaos) return nullptr;
  return {
      {"least_s", number(chaos->least)}, {"most_s", number(chaos->most)}, {"runs", chaos->runs}};
}

Json faults_of(const Metrics& m) {
  Json costs = Json::object();
  for (const FaultCost& cost : m.fault_costs) costs[cost.key] = number(cost.without);
  return {
      {"step_without_s", costs},
      {"stragglers", stragglers_json(m.stragglers)},
      {"step_without_stragglers_s", m.stragglers.empty() ? Json() : number(m.without_stragglers)}};
}

/// The cost; null without a price.
Json cost_of(const std::optional<RunCost>& cost, bool has_tokens) {
  if (!cost) return nullptr;
  return {{"per_hour_dollars", number(cost->per_hour)},
          {"per_step_dollars", number(cost->per_step)},
          {"per_day_dollars", number(cost->per_day)},
          {"per_million_tokens_dollars", has_tokens ? number(cost->per_million_tokens) : Json()},
          {"per_million_samples_dollars", number(cost->per_million_samples)},
          {"wasted_fraction", number(cost->wasted_fraction)},
          {"wasted_per_month_dollars", number(cost->wasted_per_month())}};
}

Json energy_of(const Metrics& m) {
  if (!m.energy) return nullptr;
  const RunEnergy& e = *m.energy;
  return {{"board_w", number(e.board.value)},
          {"host_w", number(e.host.value)},
          {"pue", number(e.pue)},
          {"carbon_g_per_kwh", number(e.carbon.grams_per_kwh)},
          {"facility_w_per_gpu", number(e.facility().value)},
          {"least_facility_w_per_gpu", number(e.least.value)},
          {"most_facility_w_per_gpu", number(e.most.value)},
          {"per_step_kwh", number(e.kwh(m.step_time))},
          {"per_step_kg_co2e", number(e.kg_of_co2e(e.kwh(m.step_time)))}};
}

Json outside_range_of(const Metrics& m) {
  return list_json(m.outside_range, [&](const OutsideRange& side) {
    return Json{{"side", side.side},
                {"time_s", number(side.time)},
                {"fraction", number(side.time / m.step_time)}};
  });
}

Json limit_of(const LimitStep& limit) {
  return {{"limit", limit.name}, {"change", limit.world}, {"step_without_s", number(limit.step)}};
}

Json expectation_of(const ExpectationOutcome& e) {
  return {{"text", e.text}, {"actual", e.actual}, {"holds", e.holds}};
}

Json engine_of(const EngineStats& engine, const RunStats* stats) {
  Json json = engine_json(engine);
  if (stats == nullptr) return json;
  json["wall_s"] = number(stats->wall_s);
  json["peak_rss_bytes"] = number(Bytes{stats->peak_rss_bytes});
  json["stages_s"] = map_json(stats->stages_s, [](double seconds) { return number(seconds); });
  return json;
}

Json provenance_of(const Provenance& provenance) {
  return {{"version", provenance.version},
          {"hashes", map_json(provenance.hashes)},
          {"scenario", text_or_null(provenance.scenario)}};
}

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

/// null where there is none, as is a long run.
Json checkpoint_of(const Metrics& m) {
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

Json long_run_of(const Metrics& m) {
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
  json["energy_kwh"] = m.energy ? number(m.energy->kwh(run.wall, run.shares.idle())) : Json();
  return json;
}

}  // namespace

std::string to_json(const Metrics& m, const std::vector<ExpectationOutcome>& expectations,
                    const RunStats* stats) {
  const auto of_tokens = [&](double value) { return m.has_tokens ? number(value) : Json(); };
  Json json{{"schema", "stepsim.result/1"}, {"scenario", m.scenario}};
  json.update(job_json(m));
  json.update(Json{
      {"interrupted", m.replicas && m.replicas->is_interrupted()},
      {"step_time_s", number(m.step_time)},
      {"steps_s", seconds_json(m.steps)},
      {"chaos", chaos_of(m.chaos)},
      {"tokens_per_s", of_tokens(m.tokens_per_s)},
      {"samples_per_s", number(m.samples_per_s)},
      {"tokens_per_s_per_gpu", of_tokens(m.tokens_per_s_per_gpu)},
      {"model_tflops_per_gpu", number(m.model_tflops_per_gpu)},
      {"mfu", number(m.mfu)},
      {"hfu", number(m.hfu)},
      {"flop_convention", m.flop_convention},
      {"breakdown_s", causes_json(m.breakdown)},
      {"critical_path_s", causes_json(m.critical)},
      {"bubble_fraction", number(m.bubble_fraction)},
      {"data_stall_fraction", number(m.data_stall_fraction)},
      {"communication", communication_json(m)},
      {"overlap_efficiency", number(m.overlap_efficiency)},
      {"memory", memory_of(m.memory)},
      {"replicas", replicas_of(m.replicas)},
      {"checkpoint", checkpoint_of(m)},
      {"long_run", long_run_of(m)},
      {"outside_calibrated_range", outside_range_of(m)},
      {"faults", faults_of(m)},
      {"cost", cost_of(m.cost, m.has_tokens)},
      {"energy", energy_of(m)},
      {"verdict", verdict_json(m.verdict)},
      {"limits", list_json(m.limits, limit_of)},
      {"expected_error", expected_error_json(m)},
      {"expect", list_json(expectations, expectation_of)},
      {"assumed", assumed_json(m)},
      {"engine", engine_of(m.engine, stats)},
      {"provenance", provenance_of(m.provenance)},
  });
  return json_text(json);
}

}  // namespace stepsim
