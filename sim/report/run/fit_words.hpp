// How many measured runs are predicted not to fit in memory, in words.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace stepsim {

/// The sentence "38 of 1,309 rows ran and are predicted not to fit in memory, by suite: pax 30, mpt
/// 8." Empty where no row is.
std::string fit_words(int rows, const std::vector<std::pair<std::string, int>>& not_fitting);

}  // namespace stepsim
