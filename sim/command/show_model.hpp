// stepsim show model: what a model is, in one look.
#pragma once

#include <iosfwd>
#include <string>

#include "sim/plan/scenario_argument.hpp"

namespace stepsim {

/// Prints layers, parameters, FLOPs, bytes and what was assumed.
///
/// `argument.path`: a name of `stepsim list models`, a model file, a config.json of Hugging Face or
/// the folder that has one, or a scenario, whose model and sequence length are shown. `format`:
/// table or json. Throws UserError for a model that cannot be read.
void show_model(const ScenarioArgument& argument, const std::string& format, std::ostream& out);

}  // namespace stepsim
