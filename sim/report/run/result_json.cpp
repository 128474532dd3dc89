// Writes communication, stragglers, verdict, engine and likely error key by key.
#include "sim/report/run/result_json.hpp"

namespace stepsim {
namespace {

Json straggler_of(const Straggler& s) {
  return {{"ranks", s.ranks},
          {"stage", s.stage},
          {"late_s", number(s.late)},
          {"stall_s", number(s.stall)},
          {"factor", number(s.factor)}};
}

}  // namespace

Json job_json(const Metrics& m) {
  return {{"model", m.model}, {"gpu", m.gpu},     {"gpus", m.gpus},
          {"nodes", m.nodes}, {"split", m.split}, {"attention", text_or_null(m.attention)}};
}

Json communication_json(const Metrics& m) {
  Json groups = Json::object();
  for (const GroupCommunication& g : m.communication) {
    groups[name_of(g.axis)] = {
        {"bytes", number(g.bytes)}, {"busy_s", number(g.busy)}, {"exposed_s", number(g.exposed)}};
  }
  return groups;
}

Json stragglers_json(const std::vector<Straggler>& stragglers) {
  return list_json(stragglers, straggler_of);
}

Json verdict_json(const Verdict& verdict) {
  return {{"sentence", verdict.sentence}, {"next", verdict.next}};
}

Json engine_json(const EngineStats& engine) {
  Json json{{"ranks_total", engine.ranks_total},
            {"ranks_simulated", engine.ranks_simulated},
            {"events", engine.events},
            {"kernels", engine.kernels},
            {"transfers", engine.transfers}};
  if (engine.ranks_unrecorded > 0) json["ranks_unrecorded"] = engine.ranks_unrecorded;
  return json;
}

Json expected_error_json(const Metrics& m) {
  if (!m.expected_error) return nullptr;
  const ExpectedError& e = *m.expected_error;
  const auto of = [&](double share) { return e.rows > 0 ? number(share) : Json(); };
  Json band;
  if (e.band) {
    const auto [least, most] = e.times(m.step_time);
    band = {number(least), number(most)};
  }
  return {{"rows", e.rows},
          {"known_rows", e.known},
          {"median_ape", of(e.median)},
          {"p90_ape", of(e.p90)},
          {"bias", of(e.bias)},
          {"step_time_80_percent_s", band},
          {"unseen", e.band ? Json(e.band->unseen) : Json::array()},
          {"traits", e.traits},
          {"suites", e.suites},
          {"worst_suite", e.rows > 0 ? Json(e.worst_suite) : Json()},
          {"worst_suite_mape", of(e.worst_mean)}};
}

Json assumed_json(const Metrics& m) {
  return list_json(m.assumed, [](const AssumedKey& a) {
    return Json{{"key", a.key}, {"value", a.value}};
  });
}

Json cause_titles_json() {
  Json all = Json::array();
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    all.push_back({{"cause", name_of(cause)}, {"title", title_of(cause)}});
  }
  return all;
}

}  // namespace stepsim
