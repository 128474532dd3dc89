// The head of a trace as JSON.
#include "sim/report/run/trace_head.hpp"

#include "sim/core/hash.hpp"
#include "sim/core/version.hpp"
#include "sim/recording/simulated/trace_format.hpp"
#include "sim/report/run/result_json.hpp"
#include "sim/report/run/trace_flows.hpp"

namespace stepsim {
namespace {

Json steps_json(const Timeline& timeline, const TimelineChoice& choice) {
  const StepRange steps =
      choice.steps.value_or(StepRange{0, std::max<std::size_t>(timeline.step_ends.size(), 1) - 1});
  return {{"first", steps.first},
          {"last", steps.last},
          {"warmup", timeline.warmup},
          {"ends_ns", list_json(timeline.step_ends, nanoseconds)}};
}

}  // namespace

std::string trace_head_json(const TraceHead& head, const Timeline& timeline,
                            const TimelineChoice& choice, std::size_t simulated) {
  const Json json{{"format", kTraceFormat},
                  {"version", kVersion},
                  {"level", head.level},
                  {"name", head.scenario},
                  {"replica", head.replica},
                  {"steps", steps_json(timeline, choice)},
                  {"ranks", {{"simulated", simulated}, {"here", timeline.ranks.size()}}},
                  {"engine", engine_json(head.engine)},
                  {"hashes", map_json(head.hashes)},
                  {"next", head.next},
                  {"scenario_hash", fnv1a_hex(head.yaml)},
                  {"scenario", head.yaml}};
  return Json{{"stepsim", json}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace stepsim
