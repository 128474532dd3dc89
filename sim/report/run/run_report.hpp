// Writers of a run's result, one for each reader: a person, a program, a table of many runs.
#pragma once

#include <string>
#include <vector>

#include "sim/report/measure/metrics.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

/// For a terminal: at most 40 lines of `screen.width` columns in all ordinary cases (a long list of
/// expectations adds lines); ends with a newline. Times, sizes and rates have three digits; the
/// breakdown has one unit throughout.
std::string to_table(const Metrics& metrics, const std::vector<ExpectationOutcome>& expectations,
                     const Screen& screen);

/// One object of schema "stepsim.result/1", indented by 2, with a newline at the end: base SI
/// units, and each key says its unit. Every key is always there; what does not apply or is not
/// finite is null. With `stats` (may be null) the engine object also says how long the run took on
/// this machine; without it equal inputs give equal bytes.
std::string to_json(const Metrics& metrics, const std::vector<ExpectationOutcome>& expectations,
                    const RunStats* stats);

/// CSV: a line with the names of the columns, the same for every result, and a row of scalars in
/// base SI units, empty where one does not apply.
std::string to_csv(const Metrics& metrics);
/// The two lines of to_csv by themselves, each with a newline at its end.
std::string csv_header();
std::string csv_row(const Metrics& metrics);

}  // namespace stepsim
