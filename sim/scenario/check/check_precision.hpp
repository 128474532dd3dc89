// What does not fit about types of numbers.
#pragma once

#include <vector>

#include "sim/scenario/check/check_recompute.hpp"

namespace stepsim {

/// Whether ranks of that sharding keep or gather parameters in fp8, where precision is fp8.
bool has_fp8_parameters(const Training& training, const Sharding& sharding);

std::vector<Objection> precision_objections(const Scenario& scenario);

}  // namespace stepsim
