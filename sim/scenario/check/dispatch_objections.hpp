// What does not fit about how tokens are sent to the ranks of their experts.
#pragma once

#include <vector>

#include "sim/core/objection.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// REQUIRES: the model has those experts; what splits them and the ranks divides them.
std::vector<Objection> dispatch_objections(const Scenario& scenario, const Experts& experts);

}  // namespace stepsim
