// On how many nodes the ranks lie that share a model's experts.
#pragma once

#include <optional>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Of each group of them, which has equally many ranks on each of its nodes; nothing where nodes or
/// groups differ. REQUIRES: the degrees divide the ranks.
std::optional<int> nodes_of_experts(const Scenario& scenario);

}  // namespace stepsim
