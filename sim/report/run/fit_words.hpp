// In words: how many measured runs are predicted not to fit in memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace stepsim {

/// "38 of 1,309 rows ran and are predicted not to fit in memory, by suite: pax 30, mpt 8." Empty
/// where there are none.
std::string fit_words(int rows, const std::vector<std::pair<std::string, int>>& not_fitting);

}  // namespace stepsim
