// From a suite's file to its measured runs.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/load.hpp"
#include "sim/scenario/suite/suite.hpp"

namespace stepsim {

struct SuiteRequest {
  std::string path;
  std::string table;   ///< a table in place of the suite's own; empty: the suite's own
  std::string filter;  ///< condition over columns, groups and `suite`; empty: all rows
};

struct LoadedSuite {
  Suite suite;
  std::vector<MeasuredRun> runs;  ///< in the order of the table; none where `filter_lacks` has any
  Place table;                    ///< where that begins
  /// With a filter: what it may name here, and what it names besides (suite_filter.hpp).
  std::vector<std::string> filter_names, filter_lacks;
};

/// Reads and checks a suite and its table. Throws UserError with every mistake, or IoError when a
/// file cannot be read. A row of the suite's own table that cannot be used is a mistake; one of
/// another table is a run with the reason in `refusal`.
LoadedSuite load_suite(const SuiteRequest& request, const KnownNames& known = {});

/// A run's settings as the suite has them, or without what its publisher measured of its machines.
enum class Settings { all, unseen };

/// The scenario that predicts the run. Throws UserError when the checks refuse it.
Scenario scenario_of(const Suite& suite, const MeasuredRun& run, const KnownNames& known = {},
                     Settings settings = Settings::all);

}  // namespace stepsim
