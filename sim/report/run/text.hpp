// The result as one screen of text, which a person reads after a run.
#pragma once

#include <string>
#include <vector>

#include "sim/report/measure/metrics.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

/// The screen: at most 40 lines of `screen.width` columns in all ordinary cases (a long list of
/// expectations adds lines). It ends with a newline. Times, sizes and rates have three digits; the
/// breakdown has one unit throughout.
std::string to_table(const Metrics& metrics, const std::vector<ExpectationOutcome>& expectations,
                     const Screen& screen);

}  // namespace stepsim
