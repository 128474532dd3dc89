// Writes communication, stragglers, verdict and engine key by key.
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

}  // namespace stepsim
