// The result as CSV: one row of scalars, for tables of many runs. Values are in base SI units, and
// each column says its unit.
#pragma once

#include <string>

#include "sim/report/measure/metrics.hpp"

namespace stepsim {

/// The names of the columns, which are equal for every result. Ends with a newline.
std::string csv_header();

/// The values in the order of csv_header(); empty where one does not apply. Ends with a newline.
std::string csv_row(const Metrics& metrics);

/// The header and the row of a result.
std::string to_csv(const Metrics& metrics);

}  // namespace stepsim
