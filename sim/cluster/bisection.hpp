// The bandwidth between the halves of a cluster.
#pragma once

#include "sim/cluster/network.hpp"

namespace stepsim {

/// The most that the first half of the nodes can send to the second half at once over all ways that
/// there are: a maximum flow, whatever the routes. REQUIRES: at least two nodes.
BytesPerSecond bisection(const Network& network);

}  // namespace stepsim
