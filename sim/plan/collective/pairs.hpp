// The parts of an all-to-all, inside nodes and between them.
#pragma once

#include "sim/plan/collective.hpp"

namespace stepsim {

/// The phase in which all pairs of a node exchange `bytes` a rank.
Phase pairs_inside(const CollectiveJob& job, Bytes bytes);

/// The flow between nodes: every NIC sends what the ranks of its node have for other nodes.
PhaseFlow pairs_between(const CollectiveJob& job);

/// What a hop between nodes takes, and the host's posting of messages to so many peers there.
Seconds latency_between(const CollectiveJob& job, int peers);

/// The channels on which messages between pairs run.
int pair_channels(const CollectiveJob& job);

}  // namespace stepsim
