// Names with ranges of numbers: "node 0..15 nic 3" is sixteen of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stepsim {

/// The names that a text with ranges stands for, in order; nullopt when a range counts down, or
/// when they are more than 100 000.
std::optional<std::vector<std::string>> expanded(const std::string& text);

/// The other way round: "node 0..3, spine".
std::string contracted(const std::vector<std::string>& names);

}  // namespace stepsim
