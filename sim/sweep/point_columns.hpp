// The numbers of a point as a row: names with units, and values in the same order.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/sweep/outcome.hpp"

namespace stepsim {

/// A number of a point, as files and writers have it.
struct NumberColumn {
  const char* name = "";
  bool may_lack = false;  ///< 0 says that there is none
  bool is_whole = false;
};

/// All but those of the causes, which follow them.
std::span<const NumberColumn> plain_columns();

/// step_time_s, mfu, ..., and one for each cause: forward_s.
const std::vector<std::string>& number_columns();
std::vector<double> number_values(const PointNumbers& numbers);
/// REQUIRES: as many values as columns.
PointNumbers numbers_of_columns(const std::vector<double>& values);

}  // namespace stepsim
