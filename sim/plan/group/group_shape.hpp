// How a group of ranks lies on the cluster.
#pragma once

#include <compare>

namespace stepsim {

struct GroupShape {
  int ranks = 1;
  int nodes = 1;
  int nics = 0;  ///< those of a node that it uses, each with a path to the next node or all
  int ranks_per_node() const { return (ranks + nodes - 1) / nodes; }
  auto operator<=>(const GroupShape&) const = default;
};

}  // namespace stepsim
