// Counts members by place and crossings by link: the same in all blocks, or not.
#include "sim/plan/group/block_symmetry.hpp"

#include <algorithm>

#include "sim/scenario/rank_order.hpp"

namespace stepsim {

std::vector<Blocks> possible_blocks(const Scenario& scenario, const Network& network) {
  const int data = scenario.data_parallel(), gpus = scenario.cluster.gpus_per_node;
  const std::int64_t period = network.period() * gpus;
  const std::int64_t stride = data > 1 ? RankOrdering(scenario).rank_at({.data = 1}) : 0;
  std::vector<Blocks> found;
  if (period == 0 || stride == 0) return found;
  for (int size = 1; size <= data / 2; ++size) {
    if (data % size != 0 || stride * size % period != 0) continue;
    const auto ranks = static_cast<int>(stride * size);
    found.push_back({ranks, ranks / gpus, data / size});
  }
  return found;
}

BlockSymmetry::BlockSymmetry(const Network& network, const Blocks& blocks)
    : network_(network), blocks_(blocks) {
  if (blocks.count == 1) return;
  members_.resize(static_cast<std::size_t>(network.cluster().gpus() / blocks.count));
  crossings_.resize(network.links().size());
}

Reach BlockSymmetry::reach_of(const std::vector<int>& ranks) const {
  if (blocks_.count == 1) return Reach::first_block;
  const int block = blocks_.block_of(ranks.front());
  const bool is_one =
      std::ranges::all_of(ranks, [&](int rank) { return blocks_.block_of(rank) == block; });
  if (!is_one) return Reach::several_blocks;
  return block == 0 ? Reach::first_block : Reach::other_block;
}

bool BlockSymmetry::keeps(const Group& group) {
  if (!keeps_ranks(group.ranks)) return false;
  for (const auto& of_pattern : group.streams) {
    for (const Stream& stream : of_pattern) {
      if (!keeps_links(stream.links)) return false;
    }
  }
  return true;
}

/// A group has a rank once, so that those of one place are in all blocks if they are as many.
bool BlockSymmetry::keeps_ranks(const std::vector<int>& ranks) {
  const auto of = [&](int rank) -> int& { return members_[blocks_.index_of(rank)]; };
  for (const int rank : ranks) ++of(rank);
  const bool all = std::ranges::all_of(ranks, [&](int rank) { return of(rank) == blocks_.count; });
  for (const int rank : ranks) of(rank) = 0;
  return all;
}

/// Each link is crossed as often as the one of the first block that is like it. Then none is left
/// out if those of the first block, times the number of blocks, are all.
bool BlockSymmetry::keeps_links(const std::vector<LinkId>& links) {
  for (const LinkId link : links) ++crossings_[link];
  bool as_often = true;
  std::size_t in_first = 0;
  for (const LinkId link : links) {
    const LinkId first = network_.first_like(link, blocks_);
    as_often &= crossings_[link] == crossings_[first];
    if (first == link) ++in_first;
  }
  for (const LinkId link : links) crossings_[link] = 0;
  return as_often && in_first * static_cast<std::size_t>(blocks_.count) == links.size();
}

}  // namespace stepsim
