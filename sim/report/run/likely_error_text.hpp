// How far off a prediction may be, in words.
#pragma once

#include <string>

#include "sim/core/quantity.hpp"
#include "sim/validation/expected_error.hpp"

namespace stepsim {

/// A paragraph of statistics: "median 4.1 %, 90th percentile 9.0 %, bias -1.0 %, ...".
std::string likely_error_text(const ExpectedError& error, Seconds predicted);

}  // namespace stepsim
