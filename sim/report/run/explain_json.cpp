// Writes an explanation as JSON.
#include <nlohmann/json.hpp>

#include "sim/report/json_number.hpp"
#include "sim/report/measure/explain.hpp"
#include "sim/report/measure/verdict.hpp"

namespace stepsim {
namespace {

Json path_of(const PathSummary& path, const Metrics& m) {
  Json pieces = Json::array(), segments = Json::array();
  for (const PathPiece& piece : path.pieces) {
    pieces.push_back({{"rank", piece.rank},
                      {"stage", piece.stage},
                      {"cause", name_of(piece.cause)},
                      {"task", piece.task},
                      {"times", piece.times},
                      {"seconds", number(piece.seconds)}});
  }
  for (const PathSegment& segment : path.last_step) {
    segments.push_back({{"rank", path.ranks[segment.rank]},
                        {"cause", name_of(segment.cause)},
                        {"start_s", number(segment.start)},
                        {"seconds", number(segment.seconds)}});
  }
  return {{"causes_s", causes_json(m.critical)}, {"pieces", pieces}, {"last_step", segments}};
}

const char* name_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::limit:
      return "limit";
    case ChangeKind::hardware:
      return "hardware";
    case ChangeKind::setting:
      return "setting";
  }
  return "";
}

Json changes_of(const Explanation& e) {
  Json changes = Json::array();
  for (const ChangeOutcome& change : e.changes) {
    changes.push_back(
        {{"kind", name_of(change.kind)},
         {"change", change.title},
         {"set", change.settings},
         {"step_time_s", number(change.step)},
         {"saved_s", number(e.metrics.step_time - change.step)},
         {"saved_fraction", number(saving(e.metrics, change.step))},
         {"peak_bytes", number(change.peak)},
         {"fits", change.fits},
         {"more_contention_s", change.contention ? number(change.contention->more) : Json()}});
  }
  return changes;
}

Json loader_of(const std::optional<LoaderNeed>& need) {
  if (!need) return nullptr;
  return {{"workers", need->workers},
          {"delivered_per_s", number(need->delivered)},
          {"taken_per_s", number(need->taken)},
          {"workers_enough", need->enough ? Json(*need->enough) : Json()}};
}

Json symptoms_of(const std::vector<Symptom>& symptoms, const Metrics& m) {
  Json list = Json::array();
  const auto per_month = [&](const Symptom& symptom) {
    return m.cost ? number(m.cost->month_of(symptom.seconds / m.step_time)) : Json();
  };
  for (const Symptom& symptom : symptoms) {
    list.push_back({{"symptom", symptom.name},
                    {"title", symptom.title},
                    {"evidence", symptom.evidence},
                    {"suspect", symptom.suspect},
                    {"seconds", number(symptom.seconds)},
                    {"per_month_dollars", per_month(symptom)}});
  }
  return list;
}

Json verdict_json(const Explanation& e) {
  if (e.is_interrupted) return nullptr;
  return {{"sentence", e.verdict.sentence}, {"next", e.verdict.next}};
}

}  // namespace

std::string to_json(const Explanation& e) {
  const Json json{{"schema", "stepsim.explanation/1"},
                  {"scenario", e.metrics.scenario},
                  {"step_time_s", number(e.metrics.step_time)},
                  {"critical_path", path_of(e.path, e.metrics)},
                  {"changes", changes_of(e)},
                  {"loader", loader_of(e.loader)},
                  {"symptoms", symptoms_of(e.symptoms, e.metrics)},
                  {"interrupted", e.is_interrupted},
                  {"verdict", verdict_json(e)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace stepsim
