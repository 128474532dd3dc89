// The result as CSV: one row of scalars, for tables of many runs. Base SI units, each column says
// its unit.
#pragma once

#include <string>

#include "sim/report/measure/metrics.hpp"

namespace stepsim {

/// The names of the columns; the same for every result. Ends with a newline.
std::string csv_header();

/// The values in that order; empty where one does not apply. Ends with a newline.
std::string csv_row(const Metrics& metrics);

/// Header and row.
std::string to_csv(const Metrics& metrics);

}  // namespace stepsim
