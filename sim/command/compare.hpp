// stepsim compare: what differs between scenarios or results.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

/// The kinds of pages that it writes.
inline const std::vector<std::string> kComparePages{"compare", "against"};

struct CompareOptions {
  /// scenarios, or results of `run`; or one scenario and one recording
  std::vector<std::string> files;
  std::vector<std::string> overrides;              ///< path=value, of all scenarios
  std::vector<std::vector<std::string>> variants;  ///< the first with these on top: one more each
  std::string baseline;          ///< a result that the only file has to be as good as; empty: none
  std::string tolerance;         ///< by how much it may be worse; empty: "2 %"
  std::string format = "table";  ///< table, json, csv, markdown
  std::string html;              ///< page to write; empty: none
  bool force = false;            ///< the page replaces any file
  int jobs = 0;                  ///< simulations at the same time; 0: as many as there are cores
  Screen screen;
};

/// Says what differs between scenarios, or results, and between their answers. Exit code 1 when a
/// baseline is not met.
ExitCode compare(const CompareOptions& options, std::ostream& out, std::ostream& notes);

}  // namespace stepsim
