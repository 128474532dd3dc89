// Options that programs made from Megatron-LM have beside its own; names are without leading dashes.
#pragma once

#include <string_view>

namespace stepsim {

/// Whether an option of one of them leaves the time of a step as it is.
bool leaves_step_of_fork(std::string_view name);

}  // namespace stepsim
