// Writes axes to JSON and reads them back.
#include "sim/store/axes_text.hpp"

#include <nlohmann/json.hpp>

namespace stepsim {

using Json = nlohmann::ordered_json;

std::string axes_text(const std::vector<SweepAxis>& axes) {
  Json all = Json::array();
  for (const SweepAxis& axis : axes) {
    Json values = Json::array();
    for (const AxisValue& value : axis.values) values.push_back(value.texts);
    all.push_back({{"keys", axis.paths}, {"values", values}});
  }
  return all.dump();
}

std::optional<std::vector<SweepAxis>> axes_of(const std::string& text) {
  try {
    std::vector<SweepAxis> axes;
    for (const Json& one : Json::parse(text)) {
      SweepAxis axis{.paths = one.at("keys"), .values = {}, .place = {}};
      for (const Json& value : one.at("values"))
        axis.values.push_back({value.get<std::vector<std::string>>(), {}, {}});
      for (const AxisValue& value : axis.values)
        if (value.texts.size() != axis.paths.size()) return std::nullopt;
      if (axis.values.empty()) return std::nullopt;
      axes.push_back(std::move(axis));
    }
    return axes;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string settings_text(const std::vector<SweepAxis>& axes, std::int64_t point) {
  const auto places = places_of(axes, point);
  Json settings = Json::object();
  for (std::size_t a = 0; a < axes.size(); ++a)
    for (std::size_t p = 0; p < axes[a].paths.size(); ++p)
      settings[axes[a].paths[p]] = axes[a].values[places[a]].texts[p];
  return settings.dump();
}

}  // namespace stepsim
