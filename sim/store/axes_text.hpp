// Axes and settings as texts of JSON, which SQLite's functions read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/sweep/axis.hpp"

namespace stepsim {

/// [{"keys": ["training.micro_batch"], "values": [["1"], ["2"]]}]
std::string axes_text(const std::vector<SweepAxis>& axes);
/// Throws IoError for another text.
std::vector<SweepAxis> axes_of(const std::string& text);

/// What the point sets: {"training.micro_batch": "2"}
std::string settings_text(const std::vector<SweepAxis>& axes, std::int64_t point);

}  // namespace stepsim
