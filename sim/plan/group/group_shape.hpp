// How a group of ranks lies on the cluster.
#pragma once

#include <compare>

namespace stepsim {

struct GroupShape {
  int ranks = 1;
  int nodes = 1;
  /// NICs of a node that the group uses, each with a path to the next node or to all
  int nics = 0;
  int ranks_per_node() const { return (ranks + nodes - 1) / nodes; }
  auto operator<=>(const GroupShape&) const = default;
};

}  // namespace stepsim
