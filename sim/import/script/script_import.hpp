// A launch script as a scenario: what it starts, what it asks of its environment, what is not here.
#pragma once

#include <functional>
#include <memory>

#include "sim/import/draft.hpp"
#include "sim/import/import_options.hpp"
#include "sim/import/script/megatron_launch.hpp"

namespace stepsim {

/// What follows a script on the command line: its own arguments, which stand before the first option
/// or behind "--", and the options between.
std::pair<Words, Words> split_arguments(const Words& all);

/// Evaluates the script, and makes a draft of the launch. Whether a variable that nobody states
/// matters is tried: with another value in it the draft would be another. Throws UserError that
/// asks for those, and what `make` throws.
Draft draft_of_script(const std::shared_ptr<const Source>& script, const ImportOptions& options,
                      const std::function<Draft(const MegatronLaunch&)>& make);

}  // namespace stepsim
