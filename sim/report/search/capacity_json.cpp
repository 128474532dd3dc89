// Writes a plan of capacity for programs: schema stepsim.capacity/1.
#include <fmt/format.h>

#include "sim/report/json_number.hpp"
#include "sim/report/search/capacity_report.hpp"
#include "sim/report/search/search_value.hpp"
#include "sim/text/csv_cell.hpp"

namespace stepsim {

std::string capacity_json(const CapacityReport& r) {
  Json json = {{"schema", "stepsim.capacity/1"},
               {"scenario", r.scenario},
               {"model", r.model},
               {"gpu", r.gpu},
               {"objective", r.objective}};
  json["deadline_s"] = r.deadline ? number(*r.deadline) : Json(nullptr);
  json["best_gpus"] = r.best ? Json(r.points[*r.best].search.gpus) : Json(nullptr);
  json["not_searched_gpus"] = r.not_searched;
  json["sizes"] = Json::array();
  for (const CapacityPoint& point : r.points) {
    Json size = {{"gpus", point.search.gpus}, {"on_front", point.on_front}};
    const bool fits = point.best() != nullptr;
    size["training_s"] = point.run() ? number(point.run()->wall) : Json(nullptr);
    const auto meets = r.deadline ? in_time(point, *r.deadline) : std::nullopt;
    size["in_time"] = meets ? Json(*meets) : Json(nullptr);
    size["goodput"] =
        point.run() && point.run()->goodput ? number(*point.run()->goodput) : Json(nullptr);
    size["gpu_hours"] = point.run() ? number(point.run()->wall.seconds() / 3600 * point.search.gpus)
                                    : Json(nullptr);
    size["dollars"] =
        fits && point.run() && r.dollars_per_hour ? number(cost_of(point, r)) : Json(nullptr);
    size["search"] = search_value(point.search);
    json["sizes"].push_back(size);
  }
  return json_text(json);
}

std::string capacity_csv(const CapacityReport& r) {
  std::string text =
      "gpus,on_front,step_time_s,mfu,peak_bytes,training_s,in_time,goodput,gpu_hours,dollars,"
      "strategy,command\n";
  for (const CapacityPoint& point : r.points) {
    const StrategyOutcome* best = point.best();
    if (best == nullptr) {
      text += fmt::format("{},false,,,,,,,,,,\n", point.search.gpus);
      continue;
    }
    const auto meets = r.deadline ? in_time(point, *r.deadline) : std::nullopt;
    const double hours = point.run() ? point.run()->wall.seconds() / 3600 * point.search.gpus : 0;
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", point.search.gpus, point.on_front,
                    digits(best->step.seconds()), digits(best->mfu), digits(best->peak.bytes()),
                    point.run() ? digits(point.run()->wall.seconds()) : "",
                    meets ? (*meets ? "true" : "false") : "",
                    point.run() && point.run()->goodput ? digits(*point.run()->goodput) : "",
                    point.run() ? digits(hours) : "",
                    point.run() && r.dollars_per_hour ? digits(hours * *r.dollars_per_hour) : "",
                    csv_cell(strategy_text(point.search.listed.front().strategy)),
                    csv_cell(point.search.commands.front()));
  }
  return text;
}

}  // namespace stepsim
