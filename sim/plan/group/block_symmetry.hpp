// Which blocks of ranks a job may have, and whether a group is the same from each of them.
//
// Blocks are found by checking, not by a rule for each axis: of every group that lies in one block
// there must be a copy in each, and one that lies in several must stay what it is when they trade
// places, its ranks and how often its streams cross each link.
#pragma once

#include <vector>

#include "sim/plan/plan.hpp"

namespace stepsim {

/// Where a group's ranks are.
enum class Reach { first_block, other_block, several_blocks };

/// Blocks of data indices on whole nodes, and on whole periods of the network; smallest first.
std::vector<Blocks> possible_blocks(const Scenario& scenario, const Network& network);

class BlockSymmetry {
 public:
  BlockSymmetry(const Network& network, const Blocks& blocks);

  const Blocks& blocks() const { return blocks_; }
  Reach reach_of(const std::vector<int>& ranks) const;
  /// Whether the group of several blocks maps onto itself when each block takes the next one's
  /// place.
  bool keeps(const Group& group);

 private:
  bool keeps_ranks(const std::vector<int>& ranks);
  bool keeps_links(const std::vector<LinkId>& links);

  const Network& network_;
  Blocks blocks_;
  std::vector<int> members_;    ///< by place in the first block; all 0 between calls
  std::vector<int> crossings_;  ///< by link; all 0 between calls
};

}  // namespace stepsim
