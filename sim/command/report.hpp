// stepsim report: an index of a folder of results and pages.
#pragma once

#include <iosfwd>
#include <string>

#include "sim/core/error.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

struct ReportOptions {
  std::string folder;
  std::string baseline;          ///< a result, or a folder of them; empty: none
  std::string format = "table";  ///< table, json
  std::string html;              ///< the index; empty: index.html in the folder
  bool force = false;            ///< the index replaces any file
  Screen screen;
};

/// Writes the index, and prints a line for each result. Throws UserError where there is neither a
/// result nor a page, IoError for a folder that cannot be read.
ExitCode report(const ReportOptions& options, std::ostream& out, std::ostream& notes);

}  // namespace stepsim
