// The numbers of a point as a row: names with units, and values in the same order.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/sweep/outcome.hpp"

namespace stepsim {

/// One number of a point, as files and writers have it.
struct NumberColumn {
  const char* name = "";
  bool may_lack = false;  ///< true: 0 says that the point has no such number
  bool is_whole = false;
};

/// The columns without those of the causes, which follow them.
std::span<const NumberColumn> plain_columns();

/// The names of all columns: step_time_s, mfu, ..., and one for each cause, as in forward_s.
const std::vector<std::string>& number_columns();
std::vector<double> number_values(const PointNumbers& numbers);
/// The numbers in a row of values. REQUIRES: as many values as columns.
PointNumbers numbers_of_columns(const std::vector<double>& values);

}  // namespace stepsim
