// Writes searches on several clusters for programs: schema stepsim.clusters/1.
#include <fmt/format.h>

#include "sim/report/json_number.hpp"
#include "sim/report/search/clusters_report.hpp"
#include "sim/report/search/search_value.hpp"
#include "sim/text/csv_cell.hpp"

namespace stepsim {
namespace {

Json number_or_null(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
}

std::string digits_or_none(const std::optional<double>& value) {
  return value ? digits(*value) : "";
}

/// Why there is no strategy.
std::string reason_of(const ClusterSearch& one) {
  if (!one.reason.empty()) return one.reason;
  return one.search && one.search->interrupted ? "interrupted" : "nothing fits";
}

}  // namespace

std::string clusters_json(const ClustersReport& r) {
  Json json = {{"schema", "stepsim.clusters/1"},
               {"scenario", r.scenario},
               {"model", r.model},
               {"gpus", r.gpus}};
  json["clusters"] = Json::array();
  for (const ClusterSearch& one : r.clusters) {
    Json entry = {{"cluster", one.cluster},
                  {"gpu", one.gpu},
                  {"gpus_of_node", one.gpus_of_node},
                  {"gpu_hours", number_or_null(one.gpu_hours())},
                  {"dollars", number_or_null(one.dollars())},
                  {"energy_kwh", number_or_null(one.kwh())},
                  {"kg_co2e", number_or_null(one.kg_of_co2e())}};
    entry["reason"] = one.best() != nullptr ? Json(nullptr) : Json(reason_of(one));
    entry["search"] = one.search ? search_value(*one.search) : Json(nullptr);
    json["clusters"].push_back(entry);
  }
  return json_text(json);
}

std::string clusters_csv(const ClustersReport& r) {
  std::string text =
      "cluster,gpu,gpus,gpus_of_node,step_time_s,mfu,peak_bytes,training_s,gpu_hours,dollars,"
      "energy_kwh,kg_co2e,strategy,command,reason\n";
  for (const ClusterSearch& one : r.clusters) {
    text += fmt::format("{},{},{},{},", csv_cell(one.cluster), csv_cell(one.gpu), r.gpus,
                        one.gpus_of_node);
    if (const TriedStrategy* best = one.best()) {
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},\n", digits(best->outcome.step.seconds()),
                          digits(best->outcome.mfu), digits(best->outcome.peak.bytes()),
                          one.search->run ? digits(one.search->run->wall.seconds()) : "",
                          digits_or_none(one.gpu_hours()), digits_or_none(one.dollars()),
                          digits_or_none(one.kwh()), digits_or_none(one.kg_of_co2e()),
                          csv_cell(strategy_text(best->strategy)),
                          csv_cell(one.search->commands.front()));
    } else {
      text += fmt::format(",,,,,,,,,,{}\n", csv_cell(reason_of(one)));
    }
  }
  return text;
}

}  // namespace stepsim
