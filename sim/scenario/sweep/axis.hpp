// An axis of a sweep: a key of the scenario, or several that move together, and their values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/source.hpp"

namespace stepsim {

struct AxisValue {
  std::vector<std::string> texts;  ///< one for each path, as `--set` has it: "25 MiB"
  std::optional<double> number;    ///< value of a lone path, in base units; absent: it is a word
  Place place;
};

struct SweepAxis {
  std::vector<std::string> paths;  ///< "parallelism.tensor"; several are linked
  std::vector<AxisValue> values;
  Place place;
};

/// "training.micro_batch"; linked ones with commas between them.
inline std::string title_of(const SweepAxis& axis) {
  std::string title;
  for (const std::string& path : axis.paths) title += (title.empty() ? "" : ",") + path;
  return title;
}

/// "25 MiB"; linked ones with colons between them.
inline std::string text_of(const AxisValue& value) {
  std::string all;
  for (const std::string& text : value.texts) all += (all.empty() ? "" : ":") + text;
  return all;
}

/// Which value of each axis a point of their grid has, the last axis moving fastest.
inline std::vector<std::size_t> places_of(const std::vector<SweepAxis>& axes, std::int64_t point) {
  std::vector<std::size_t> places(axes.size());
  for (std::size_t a = axes.size(); a-- > 0;) {
    const auto values = static_cast<std::int64_t>(axes[a].values.size());
    places[a] = static_cast<std::size_t>(point % values);
    point /= values;
  }
  return places;
}

}  // namespace stepsim
