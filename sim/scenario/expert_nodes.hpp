// On how many nodes the ranks lie that share a model's experts.
#pragma once

#include <optional>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Nodes that each group of ranks lies on which together have all experts; nothing where groups
/// differ, or have more ranks on some nodes than on others. REQUIRES: the degrees divide the ranks.
std::optional<int> nodes_of_experts(const Scenario& scenario);

}  // namespace stepsim
