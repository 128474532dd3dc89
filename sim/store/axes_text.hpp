// Axes and settings as JSON texts, which SQLite's functions can read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/sweep/axis.hpp"

namespace stepsim {

/// The axes as a text: [{"keys": ["training.micro_batch"], "values": [["1"], ["2"]]}].
std::string axes_text(const std::vector<SweepAxis>& axes);
/// The axes that such a text holds; nothing where it holds none.
std::optional<std::vector<SweepAxis>> axes_of(const std::string& text);

/// The keys that a point sets, as a text: {"training.micro_batch": "2"}.
std::string settings_text(const std::vector<SweepAxis>& axes, std::int64_t point);

}  // namespace stepsim
