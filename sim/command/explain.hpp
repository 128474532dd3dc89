// stepsim explain: where the step of a scenario or a recording goes, and what would help.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/plan/scenario_argument.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

/// The kinds of pages that it writes.
inline const std::vector<std::string> kExplainPages{"explain", "recording", "trace"};

struct ExplainOptions {
  ScenarioArgument scenario;
  std::string format = "table";  ///< table, json
  std::string html;              ///< page to write; empty: none
  bool force = false;            ///< the page replaces any file
  Screen screen;
};

/// Says what the step of a scenario is spent on, and what each change would save: all simulated.
ExitCode explain(const ExplainOptions& options, std::ostream& out, std::ostream& notes);

/// Says where the steps of a recording, or of a folder of them, go, why GPUs are idle and who is
/// late. Throws UserError for what is no recording, and for options that change a scenario.
ExitCode explain_recording(const ExplainOptions& options, std::ostream& out, std::ostream& notes);

/// Says what a trace that stepsim wrote shows: its breakdown is measured on what was read, and what
/// the step would take otherwise is simulated. Throws UserError for traces that cannot be read
/// back.
ExitCode explain_trace(const ExplainOptions& options, std::ostream& out, std::ostream& notes);

}  // namespace stepsim
