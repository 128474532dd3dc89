// Writes a sweep's answer for programs: JSON and CSV, point by point.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/json_number.hpp"
#include "sim/report/sweep.hpp"
#include "sim/sweep/point_columns.hpp"
#include "sim/text/csv_cell.hpp"

namespace stepsim {
namespace {

Json settings_json(const std::vector<SweepAxis>& axes, std::int64_t point) {
  Json settings = Json::object();
  const auto places = places_of(axes, point);
  for (std::size_t a = 0; a < axes.size(); ++a)
    for (std::size_t p = 0; p < axes[a].paths.size(); ++p)
      settings[axes[a].paths[p]] = axes[a].values[places[a]].texts[p];
  return settings;
}

Json point_json(const std::vector<SweepAxis>& axes, const SweepPoint& point) {
  const Outcome& outcome = point.outcome;
  Json json{{"point", point.point},
            {"settings", settings_json(axes, point.point)},
            {"state", name_of(outcome.state)}};
  if (!outcome.reason.empty()) json["reason"] = outcome.reason;
  if (!outcome.numbers) return json;
  const PointNumbers& n = *outcome.numbers;
  const std::vector<double> values = number_values(n);
  for (std::size_t i = 0; i < plain_columns().size(); ++i) {
    const NumberColumn& column = plain_columns()[i];
    const bool lacks = column.may_lack && !(values[i] > 0);
    json[column.name] = lacks             ? Json()
                        : column.is_whole ? number(Bytes{values[i]})
                                          : number(values[i]);
  }
  json["breakdown_s"] = causes_json(n.breakdown);
  return json;
}

Json axes_json(const SweepAnswer& answer) {
  Json all = Json::array();
  for (std::size_t a = 0; a < answer.axes.size(); ++a) {
    const SweepAxis& axis = answer.axes[a];
    const auto value_of = [](const AxisValue& value) {
      return value.texts.size() == 1 ? Json(value.texts.front()) : Json(value.texts);
    };
    Json flat;
    if (a < answer.slices.size() && answer.slices[a].flat) {
      const AxisSlice& slice = answer.slices[a];
      const auto text = [&](std::size_t place) { return text_of(axis.values[slice.order[place]]); };
      flat = {{"best", text(slice.flat->best)},
              {"from", text(slice.flat->first)},
              {"to", text(slice.flat->last)},
              {"within", kFlat}};
    }
    all.push_back(
        {{"keys", axis.paths}, {"values", list_json(axis.values, value_of)}, {"flat", flat}});
  }
  return all;
}

Json counts_json(const SweepAnswer& answer) {
  Json counts{
      {"grid", answer.grid}, {"wanted", answer.wanted}, {"done", answer.done}, {"ok", answer.ok}};
  const auto key_of = [](PointState state) {
    std::string key = name_of(state);
    std::ranges::replace(key, ' ', '_');
    return key;
  };
  for (std::size_t state = 1; state < kPointStates; ++state)
    counts[key_of(static_cast<PointState>(state))] = 0;
  for (const StateExample& other : answer.others) counts[key_of(other.state)] = other.count;
  counts["alike"] = answer.alike;
  const auto& shard = answer.shard;
  counts["shard"] =
      shard ? Json{{"part", shard->part}, {"of", shard->of}, {"points", shard->points}} : Json();
  return counts;
}

}  // namespace

void write_sweep_json(const SweepAnswer& answer, const EachPoint& each, std::ostream& out) {
  const auto number_of = [](const SweepPoint& point) { return point.point; };
  const Json head{{"schema", "stepsim.sweep_result/1"},
                  {"scenario", answer.name},
                  {"objective", answer.objective->name},
                  {"objective_column", answer.objective->column},
                  {"less_is_better", answer.objective->is_less_better},
                  {"unequal", text_or_null(answer.unequal)},
                  {"counts", counts_json(answer)},
                  {"axes", axes_json(answer)},
                  {"best_points", list_json(answer.best, number_of)}};
  std::string text = json_text(head);
  text.resize(text.rfind("\n}"));
  out << text << ",\n  \"points\": [";
  const char* separator = "\n    ";
  each([&](const SweepPoint& point) {
    out << separator
        << point_json(answer.axes, point).dump(-1, ' ', false, Json::error_handler_t::replace);
    separator = ",\n    ";
  });
  out << "\n  ]\n}\n";
}

void write_sweep_csv(const SweepAnswer& answer, const EachPoint& each, std::ostream& out) {
  std::string head = "point";
  for (const SweepAxis& axis : answer.axes)
    for (const std::string& path : axis.paths) head += "," + csv_cell(path);
  head += fmt::format(",state,reason,{}", fmt::join(number_columns(), ","));
  out << head << '\n';
  each([&](const SweepPoint& point) {
    const Outcome& outcome = point.outcome;
    std::string line = fmt::format("{}", point.point);
    const auto places = places_of(answer.axes, point.point);
    for (std::size_t a = 0; a < answer.axes.size(); ++a)
      for (const std::string& text : answer.axes[a].values[places[a]].texts)
        line += "," + csv_cell(text);
    line += fmt::format(",{},{}", name_of(outcome.state), csv_cell(outcome.reason));
    if (outcome.numbers) {
      const std::vector<double> values = number_values(*outcome.numbers);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const bool is_plain = i < plain_columns().size();
        const NumberColumn column = is_plain ? plain_columns()[i] : NumberColumn{};
        const bool lacks = column.may_lack && !(values[i] > 0);
        line += lacks             ? ","
                : column.is_whole ? fmt::format(",{:.0f}", values[i])
                                  : "," + digits(values[i]);
      }
    } else {
      line += std::string(number_columns().size(), ',');
    }
    out << line << '\n';
  });
}

}  // namespace stepsim
