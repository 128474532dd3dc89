// A search as a JSON value, for the documents that hold one.
#pragma once

#include "sim/report/json_number.hpp"
#include "sim/report/search/search_report.hpp"

namespace stepsim {

/// schema stepsim.search/1
Json search_value(const SearchReport& report);

}  // namespace stepsim
