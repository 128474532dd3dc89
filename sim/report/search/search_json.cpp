// Writes a search for programs: schema stepsim.search/1.
#include <fmt/format.h>

#include "sim/report/json_number.hpp"
#include "sim/report/search/search_value.hpp"
#include "sim/scenario/names.hpp"
#include "sim/text/csv_cell.hpp"

namespace stepsim {
namespace {

Json strategy_json(const Strategy& s) {
  Json json;
  for (const auto& [axis, values, degree] : kSearchedDegrees) json[name_of(axis)] = s.*degree;
  json["expert_tensor"] = s.expert_tensor > 0 ? Json(s.expert_tensor) : Json(nullptr);
  json["dispatcher"] = s.dispatcher ? Json(std::string(name_of(*s.dispatcher))) : Json(nullptr);
  json["data"] = s.data();
  json["schedule"] = std::string(s.schedule->name);
  json["chunks"] = s.chunks;
  json["micro_batch"] = s.micro_batch;
  json["sequence"] = s.sequence;
  json["recompute"] = std::string(name_of(s.recompute));
  json["recompute_modules"] =
      s.modules == ModuleSet::stated ? Json(nullptr) : Json(std::string(name_of(s.modules)));
  json["recompute_layers"] = s.recomputed_layers > 0 ? Json(s.recomputed_layers) : Json(nullptr);
  json["sharding"] = s.sharding->name;
  json["overlap"] = s.overlap;
  json["bucket_bytes"] = s.bucket > 0 ? number(Bytes{s.bucket}) : Json(nullptr);
  json["reshard_after_forward"] =
      s.reshard ? Json(std::string(name_of(*s.reshard))) : Json(nullptr);
  json["shard_degree"] = s.shard_degree > 0 ? Json(s.shard_degree) : Json(nullptr);
  return json;
}

Json outcome_json(const StrategyOutcome& outcome) {
  return {{"step_time_s", number(outcome.step)},
          {"mfu", number(outcome.mfu)},
          {"peak_bytes", number(outcome.peak)}};
}

Json listed_json(const SearchReport& report) {
  Json list = Json::array();
  for (std::size_t i = 0; i < report.listed.size(); ++i) {
    const TriedStrategy& tried = report.listed[i];
    Json entry = {{"rank", i + 1}, {"strategy", strategy_json(tried.strategy)}};
    entry.update(outcome_json(tried.outcome));
    entry["step_bound_s"] = tried.is_own ? Json(nullptr) : number(tried.bound.step);
    entry["is_own"] = tried.is_own;
    entry["command"] = report.commands[i];
    list.push_back(entry);
  }
  return list;
}

}  // namespace

Json search_value(const SearchReport& r) {
  const SearchCounts& c = r.outcome.counts;
  Json json = {{"schema", "stepsim.search/1"},
               {"scenario", r.scenario},
               {"model", r.model},
               {"gpu", r.gpu},
               {"gpus", r.gpus},
               {"capacity_bytes", number(r.capacity)}};
  json["counts"] = {{"considered", c.considered},
                    {"refused", c.refused},
                    {"too_large", c.too_large},
                    {"no_memory", c.no_memory},
                    {"pruned", c.pruned},
                    {"simulated", c.simulated},
                    {"left", c.left},
                    {"failed", c.failed}};
  const auto& failed = r.outcome.failed;
  json["first_failure"] = failed ? Json{{"strategy", strategy_json(failed->strategy)},
                                        {"error", failed->outcome.failure}}
                                 : Json(nullptr);
  json["interrupted"] = r.interrupted;
  json["proven"] = r.outcome.proven();
  json["least_bound_left_s"] = c.left > 0 ? number(r.outcome.least_left) : Json(nullptr);
  json["own"] = r.own && r.own->fits ? outcome_json(*r.own) : Json(nullptr);
  json["training_s"] = r.run ? number(r.run->wall) : Json(nullptr);
  json["training_error"] = r.no_run.empty() ? Json(nullptr) : Json(r.no_run);
  json["deadline_s"] = r.deadline ? number(*r.deadline) : Json(nullptr);
  json["in_time"] = r.deadline && r.run ? Json(r.run->wall <= *r.deadline) : Json(nullptr);
  json["goodput"] = r.run && r.run->goodput ? number(*r.run->goodput) : Json(nullptr);
  const bool has_energy = r.run && r.run->energy;
  json["energy_kwh"] = has_energy ? number(r.run->kwh()) : Json(nullptr);
  json["kg_co2e"] = has_energy ? number(r.run->energy->kg_of_co2e(r.run->kwh())) : Json(nullptr);
  json["frameworks"] = Json::array();
  for (const FrameworkFit& one : r.frameworks)
    json["frameworks"].push_back({{"name", one.name}, {"lacks", one.lacks}});
  json["strategies"] = listed_json(r);
  return json;
}

std::string search_json(const SearchReport& report) { return json_text(search_value(report)); }

std::string search_csv(const SearchReport& r) {
  std::string text =
      "rank,gpus,tensor,context,expert,pipeline,data,schedule,chunks,micro_batch,sequence,"
      "recompute,recompute_modules,recompute_layers,sharding,overlap,bucket_bytes,reshard_after_"
      "forward,shard_degree,"
      "step_time_s,step_bound_s,mfu,"
      "peak_bytes,command\n";
  for (std::size_t i = 0; i < r.listed.size(); ++i) {
    const TriedStrategy& t = r.listed[i];
    const Strategy& s = t.strategy;
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", i + 1, s.gpus,
        s.tensor, s.context, s.expert, s.stages, s.data(), s.schedule->name, s.chunks,
        s.micro_batch, s.sequence, name_of(s.recompute),
        s.modules == ModuleSet::stated ? "" : name_of(s.modules),
        s.recomputed_layers > 0 ? fmt::to_string(s.recomputed_layers) : "", s.sharding->name,
        s.overlap, s.bucket > 0 ? digits(s.bucket) : "", s.reshard ? name_of(*s.reshard) : "",
        s.shard_degree > 0 ? fmt::to_string(s.shard_degree) : "", digits(t.outcome.step.seconds()),
        digits(t.bound.step.seconds()), digits(t.outcome.mfu), digits(t.outcome.peak.bytes()),
        csv_cell(r.commands[i]));
  }
  return text;
}

}  // namespace stepsim
