// stepsim validate: measured runs against their predictions.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

struct ValidateOptions {
  std::vector<std::string> suites;  ///< files
  std::string table;                ///< rows instead of the suite's; empty: its own
  std::string format = "table";     ///< table, json, csv, junit, github, markdown
  std::string filter;               ///< condition for rows; empty: all
  std::string html;                 ///< page to write; empty: none
  bool force = false;               ///< the page replaces any file
  std::string baseline, record;     ///< recorded errors to compare with, or to write
  int jobs = 0;                     ///< rows at the same time; 0: as many as there are cores
  bool rows = false;                ///< table: every row of several suites too
  bool causes = false;              ///< table: the breakdown of each row
  Screen screen;
};

/// Predicts the measured runs of suites and scores the predictions. Exit code 1 when a tolerance is
/// broken, a row has no prediction, or a group is worse than recorded; 3 after Ctrl-C.
ExitCode validate(const ValidateOptions& options, std::ostream& out, std::ostream& notes);

}  // namespace stepsim
