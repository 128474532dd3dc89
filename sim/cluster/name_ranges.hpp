// Names with ranges of numbers: "node 0..15 nic 3" is sixteen of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stepsim {

/// The names that a text with ranges stands for, in order; absent when a range counts down, or when
/// there are more than 100 000 names.
std::optional<std::vector<std::string>> expanded(const std::string& text);

/// Names in short, with ranges where they count on: "node 0..3, spine".
std::string contracted(const std::vector<std::string>& names);

}  // namespace stepsim
