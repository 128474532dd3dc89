// What does not fit about low-rank adapters.
#pragma once

#include <vector>

#include "sim/core/objection.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

std::vector<Objection> lora_objections(const Scenario& scenario);

}  // namespace stepsim
