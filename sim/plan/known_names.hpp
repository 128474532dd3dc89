// The names that the registries hold, as the checks of a scenario need them.
#pragma once

#include "sim/scenario/load.hpp"

namespace stepsim {

KnownNames known_names();

}  // namespace stepsim
