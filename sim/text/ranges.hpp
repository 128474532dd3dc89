// Whole numbers as ranges: "0-7,16-64:8" are 0 to 7, and every eighth from 16 to 64.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim {

/// The numbers, which rise, as ranges with a comma between them; empty for none.
std::string ranges_text(const std::vector<int>& numbers);

/// The numbers of such a text, sorted, each once. Nothing where it is no such text, a range falls,
/// or they are more than a hundred million.
std::optional<std::vector<int>> numbers_of_ranges(std::string_view text);

}  // namespace stepsim
