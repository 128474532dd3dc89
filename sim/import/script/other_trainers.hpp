// Programs that train, and are not started by Megatron-LM's own options.
#pragma once

#include <string>

#include "sim/import/script/script_run.hpp"

namespace stepsim {

/// "verl (hydra): ...": what it is and how its settings come in; "" where nobody knows it.
std::string other_trainer(const Words& words);

}  // namespace stepsim
