// An explanation as JSON.
#include <array>

#include "sim/report/json_number.hpp"
#include "sim/report/measure/explain.hpp"
#include "sim/report/measure/verdict.hpp"
#include "sim/report/run/result_json.hpp"

namespace stepsim {
namespace {

Json path_of(const PathSummary& path, const Metrics& m) {
  const auto piece_of = [](const PathPiece& piece) {
    return Json{{"rank", piece.rank}, {"stage", piece.stage}, {"cause", name_of(piece.cause)},
                {"task", piece.task}, {"times", piece.times}, {"seconds", number(piece.seconds)}};
  };
  const auto segment_of = [&](const PathSegment& segment) {
    return Json{{"rank", path.ranks[segment.rank]},
                {"cause", name_of(segment.cause)},
                {"start_s", number(segment.start)},
                {"seconds", number(segment.seconds)}};
  };
  return {{"causes_s", causes_json(m.critical)},
          {"pieces", list_json(path.pieces, piece_of)},
          {"last_step", list_json(path.last_step, segment_of)}};
}

const char* name_of(ChangeKind kind) {
  constexpr std::array kWords{"limit", "hardware", "setting"};
  return kWords.at(static_cast<std::size_t>(kind));
}

Json changes_of(const Explanation& e) {
  return list_json(e.changes, [&](const ChangeOutcome& change) {
    return Json{
        {"kind", name_of(change.kind)},
        {"change", change.title},
        {"set", change.settings},
        {"step_time_s", number(change.step)},
        {"saved_s", number(e.metrics.step_time - change.step)},
        {"saved_fraction", number(saving(e.metrics, change.step))},
        {"peak_bytes", number(change.peak)},
        {"fits", change.fits},
        {"more_contention_s", change.contention ? number(change.contention->more) : Json()}};
  });
}

Json memory_of(const Memory& memory) {
  if (memory.stages.empty()) return nullptr;
  return {{"peak_bytes", number(memory.worst().total())},
          {"capacity_bytes", number(memory.capacity)},
          {"fits", memory.fits()}};
}

Json loader_of(const std::optional<LoaderNeed>& need) {
  if (!need) return nullptr;
  return {{"workers", need->workers},
          {"delivered_per_s", number(need->delivered)},
          {"taken_per_s", number(need->taken)},
          {"workers_enough", need->enough ? Json(*need->enough) : Json()}};
}

Json symptoms_of(const std::vector<Symptom>& symptoms, const Metrics& m) {
  const auto per_month = [&](const Symptom& symptom) {
    return m.cost ? number(m.cost->month_of(symptom.seconds / m.step_time)) : Json();
  };
  return list_json(symptoms, [&](const Symptom& symptom) {
    return Json{{"symptom", symptom.name},
                {"title", symptom.title},
                {"evidence", symptom.evidence},
                {"suspect", symptom.suspect},
                {"seconds", number(symptom.seconds)},
                {"per_month_dollars", per_month(symptom)}};
  });
}

}  // namespace

std::string to_json(const Explanation& e) {
  const Metrics& m = e.metrics;
  Json json{{"schema", "stepsim.explanation/1"},
            {"scenario", m.scenario},
            {"step_time_s", number(m.step_time)}};
  json.update(job_json(m));
  json.update(Json{{"measured_steps", m.steps.size()},
                   {"memory", memory_of(m.memory)},
                   {"critical_path", path_of(e.path, m)},
                   {"changes", changes_of(e)},
                   {"loader", loader_of(e.loader)},
                   {"symptoms", symptoms_of(e.symptoms, m)},
                   {"expected_error", expected_error_json(m)},
                   {"assumed", assumed_json(m)},
                   {"interrupted", e.is_interrupted},
                   {"verdict", e.is_interrupted ? Json() : verdict_json(e.verdict)}});
  return json_text(json);
}

}  // namespace stepsim
