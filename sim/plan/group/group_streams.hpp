// How a group lies on the cluster, and the links that the patterns of its operations use.
//
// A ring uses its links all at once and advances with the slowest: one stream. Inside nodes there
// are as many as the node's links close. Between nodes it passes over every NIC that the group
// uses, from each node to the next, and over what lies between NIC and GPU. Of an all-to-all each
// NIC sends to each other node; where the topology has levels (leaf, pod) and the group fills them
// evenly, partners at one level are alike and become one stream, from each node to one of them.
// Where it has none there is a stream for each distance between two nodes, up to kMostDistances of
// them, evenly chosen.
#pragma once

#include "sim/plan/plan.hpp"

namespace stepsim {

/// What the operations of a group are made of.
enum class Moves {
  rings,       ///< patterns inside and between
  pairs,       ///< patterns pairs_inside and pairs_between
  neighbours,  ///< pattern neighbours
  rings_and_neighbours,
  none  ///< for what is so small that only its latency counts
};

inline constexpr std::size_t kMostDistances = 64;

/// Sets the group's shape and its streams: on the NICs that its members own, as many of each node
/// as the node with the fewest has. REQUIRES: group.ranks in order.
void lay_out(Group& group, const Network& network, Moves moves);

}  // namespace stepsim
