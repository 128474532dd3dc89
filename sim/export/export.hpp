// stepsim export: the options with which a framework launches the plan of a scenario.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/export/exporter.hpp"
#include "sim/plan/scenario_argument.hpp"

namespace stepsim {

struct ExportOptions {
  std::string to;  ///< the exporter's name
  ScenarioArgument scenario;
  std::string format = "text";  ///< text: the framework's file; json: the file and what it lacks
  std::string output;           ///< file to write; empty: standard output
  bool force = false;           ///< it replaces any file
};

/// The framework's file, and what it does not say.
struct Export {
  std::string text;
  std::vector<std::string> not_said;  ///< "training.loss_metrics: 2 (0 there)"
  std::string import;                 ///< the command that reads the file, "FILE" in its place
};

/// Writes the options, imports them, and compares: every key that comes back with another value and
/// matters is in `not_said`. Throws UserError, with the keys, where the framework cannot run the
/// plan or has no options for it.
Export export_of(const Exporter& exporter, const Scenario& scenario);

/// Prints or saves the options; what they do not say goes to `notes`.
ExitCode export_scenario(const ExportOptions& options, std::ostream& out, std::ostream& notes);

/// Throws UserError with each key whose value the framework does not have
/// (sim/scenario/describe/framework_abilities.hpp), and with what it has instead.
void refuse_what_framework_lacks(const Exporter& exporter, const Scenario& scenario);

}  // namespace stepsim
