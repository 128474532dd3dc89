// What is known of Megatron-LM's options that are not read; names are without leading dashes.
#pragma once

#include <string_view>

namespace stepsim {

/// Whether an option leaves the time of a step as it is.
bool leaves_step(std::string_view name);

/// What is simulated in place of what an option says; "" where it is not in the list.
std::string_view simulated_instead_of(std::string_view name);

/// The kind of model that has an option, where it is none that can be imported; else "".
std::string_view other_model_of(std::string_view name);

}  // namespace stepsim
