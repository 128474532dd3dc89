// stepsim explain: where the step goes, and what each change would save.
#pragma once

#include <iosfwd>
#include <string>

#include "sim/core/error.hpp"
#include "sim/plan/scenario_argument.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

struct ExplainOptions {
  ScenarioArgument scenario;
  std::string format = "table";  ///< table, json
  Screen screen;
};

/// Says what the step is spent on, and what each change would save, all of it simulated.
ExitCode explain(const ExplainOptions& options, std::ostream& out);

}  // namespace stepsim
