// What does not fit about recompute.
#pragma once

#include <vector>

#include "sim/core/objection.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// `layers`: of each part of the model that a stage holds; empty where that is not known.
std::vector<Objection> recompute_objections(const Scenario& scenario,
                                            const std::vector<std::int64_t>& layers);

}  // namespace stepsim
