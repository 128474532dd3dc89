// The rows of a table as runs: what a suite's expressions say of each.
#pragma once

#include <vector>

#include "sim/core/problems.hpp"
#include "sim/scenario/suite/suite.hpp"

namespace stepsim {

struct RowRules {
  bool is_strict = true;  ///< false: a row that cannot be used is a run with its refusal
  /// Over columns, groups and `suite`, and nothing else; empty: all rows.
  Phrase filter;
};

/// Checks the suite's expressions against the table's columns, then evaluates them row by row.
/// Mistakes go to the problems.
std::vector<MeasuredRun> runs_of(const Suite& suite, const Table& table, const RowRules& rules,
                                 Problems& problems);

}  // namespace stepsim
