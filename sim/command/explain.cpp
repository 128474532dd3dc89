// stepsim explain: where the step goes, and what each change would save.
#include <ostream>

#include "sim/command/answer/what_if.hpp"
#include "sim/command/command.hpp"
#include "sim/plan/load.hpp"
#include "sim/process/interrupt.hpp"
#include "sim/process/patience.hpp"

namespace stepsim {

ExitCode explain(const ExplainOptions& options, std::ostream& out) {
  const Scenario scenario = load(options.scenario);
  const InterruptNoted noted;  // also while it prints
  Patience patience(options.progress);
  patience.begins("simulating the step and each change of it");
  const Explanation explanation =
      explain(scenario, [&](const auto& settings) { return load(options.scenario, settings); });
  patience.end();
  out << (options.format == "json"
              ? to_json(explanation)
              : to_table(explanation, {.colour = options.colour, .width = options.width}));
  return explanation.is_interrupted ? ExitCode::incomplete : ExitCode::ok;
}

}  // namespace stepsim
