// What is known of Megatron-LM's options that are not read; names are without leading dashes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepsim {

/// Whether an option leaves the time of a step as it is.
bool leaves_step(std::string_view name);

/// Options that change a step, whether this run asks for them or not; not all there are.
std::vector<std::string> options_with_effect();
/// Whether other runs ask for an option: one of experts has no effect where there are none.
bool has_effect_elsewhere(std::string_view name);

/// What is simulated in place of what an option says; "" where it is not in the list.
std::string_view simulated_instead_of(std::string_view name);

/// The kind of model that has an option, where it is none that can be imported; else "".
std::string_view other_model_of(std::string_view name);

}  // namespace stepsim
