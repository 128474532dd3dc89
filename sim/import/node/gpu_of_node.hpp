// Which GPU a node has.
#pragma once

#include <string>

#include "sim/import/node/known_gpu.hpp"
#include "sim/import/node/observed_node.hpp"

namespace stepsim {

/// The GPU that is stated, that was recognised, or that has as many NVLinks; a guess is an assumption
/// of the node's. Throws UserError where nothing is known of the stated one.
const KnownGpu& gpu_for(ObservedNode& node, const std::string& stated);

}  // namespace stepsim
