// Blocks of ranks that are alike: equal parts of a job on nodes of their own, of which one is laid
// out where nothing but numbers tells them apart.
//
// Where a shift of all ranks by one block, around the last one to the first, maps each group of a
// plan onto a group, and the links of its streams onto those of the other's, it is an automorphism
// of the plan. Colour refinement gives equal colours to what an automorphism maps onto each other
// (sim/plan/fold.cpp), so that the colours of the first block are those of all.
#pragma once

#include <cstddef>

namespace stepsim {

/// Ranks come in runs of `ranks`: one run of each block in turn, and again, as often as there are
/// ranks. REQUIRES: runs of whole nodes, unless there is one block.
struct Blocks {
  int ranks = 1;
  int nodes = 1;  ///< of a run
  int count = 1;  ///< 1: all ranks are in the first block

  int block_of(int rank) const { return rank / ranks % count; }
  /// The rank of the first block that is like this one.
  int first_like(int rank) const { return rank - block_of(rank) * ranks; }
  /// The node of the first block that is like this one.
  int first_node_like(int node) const { return node - node / nodes % count * nodes; }
  /// The place of a rank among those of the first block; any rank has that of the one like it.
  std::size_t index_of(int rank) const {
    if (count == 1) return static_cast<std::size_t>(rank);
    return static_cast<std::size_t>(rank / ranks / count * ranks + rank % ranks);
  }
  /// The rank at a place of the first block.
  int rank_at(std::size_t index) const {
    if (count == 1) return static_cast<int>(index);
    const int place = static_cast<int>(index);
    return place / ranks * count * ranks + place % ranks;
  }
  bool operator==(const Blocks&) const = default;
};

}  // namespace stepsim
