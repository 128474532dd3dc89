// How a group lies on the cluster, and the routes between nodes that its operations use.
#pragma once

#include "sim/plan/plan.hpp"

namespace stepsim {

enum class Routes {
  ring,       ///< on every NIC that the group uses, from each node to the next
  one_ring,   ///< from the last rank of each node to the first of the next
  all_pairs,  ///< on every NIC, from each node to every other
  none        ///< for what is so small that only its latency counts
};

/// Sets the group's shape and its routes: on the NICs that its members own, as many of each node
/// as the node with the fewest has. REQUIRES: group.ranks in order.
void lay_out(Group& group, const Network& network, Routes routes);

}  // namespace stepsim
