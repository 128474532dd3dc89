// The parts of an all-to-all, inside nodes and between them.
#pragma once

#include "sim/plan/collective.hpp"

namespace stepsim {

/// All pairs of a node exchange `bytes` a rank.
Phase pairs_inside(const CollectiveJob& job, Bytes bytes);

/// Every NIC sends what its node's ranks have for other nodes.
PhaseFlow pairs_between(const CollectiveJob& job);

/// Channels of messages between pairs.
int pair_channels(const CollectiveJob& job);

}  // namespace stepsim
