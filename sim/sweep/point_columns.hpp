// The numbers of a point as a row: names with units, and values in the same order.
#pragma once

#include <string>
#include <vector>

#include "sim/sweep/outcome.hpp"

namespace stepsim {

/// step_time_s, mfu, ..., and one for each cause: forward_s.
const std::vector<std::string>& number_columns();
std::vector<double> number_values(const PointNumbers& numbers);
/// REQUIRES: as many values as columns.
PointNumbers numbers_of_columns(const std::vector<double>& values);

}  // namespace stepsim
