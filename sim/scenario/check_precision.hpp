// What does not fit about types of numbers.
#pragma once

#include <vector>

#include "sim/scenario/check_recompute.hpp"

namespace stepsim {

std::vector<Objection> precision_objections(const Scenario& scenario);

}  // namespace stepsim
