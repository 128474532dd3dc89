// Which suites a condition for rows (`--filter`) is about: those that have all that it names.
#pragma once

#include <string>
#include <vector>

#include "sim/core/table.hpp"
#include "sim/scenario/suite/load_suite.hpp"
#include "sim/scenario/suite/suite.hpp"

namespace stepsim {

/// The condition as a phrase of the command line.
Phrase filter_phrase(const std::string& filter);

/// The names that a filter may use, each once: the groups, `suite`, and the columns of the table.
std::vector<std::string> filter_names(const Suite& suite, const Table& table);

/// The names that a filter reads and `names` does not have, in alphabetical order; empty where the
/// filter does not parse, which runs_of() reports.
std::vector<std::string> names_lacking(const std::string& filter,
                                       const std::vector<std::string>& names);

/// Throws UserError where it reads what no suite has. REQUIRES: all were loaded with it.
void check_filter(const std::string& filter, const std::vector<LoadedSuite>& suites);

/// Which suites have no rows because they lack what it names: "--filter: no rows of mpt, which has
/// no column 'gpus'", one a line. Empty where none does.
std::string filter_notes(const std::vector<LoadedSuite>& suites);

}  // namespace stepsim
