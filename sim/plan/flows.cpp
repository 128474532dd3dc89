// Counts what each flow crosses.
#include "sim/plan/flows.hpp"

#include <algorithm>

namespace stepsim {

FirstLinks::FirstLinks(const Plan& plan) : network_(plan.network), blocks_(plan.blocks) {
  if (blocks_.count > 1) links_ = network_.first_links(blocks_);
}

std::size_t FirstLinks::place_of(LinkId link) const {
  if (links_.empty()) return link;
  if (link < network_.first_switch()) return network_.place_of(link, blocks_);
  const LinkId first = network_.first_like(link, blocks_);
  return static_cast<std::size_t>(std::ranges::lower_bound(links_, first) - links_.begin());
}

PlanFlows::PlanFlows(const Plan& plan) : links_(plan), times_(links_.size(), 0) {
  add_members(plan);
  add_streams(plan);
  for (std::size_t rank = 0; rank < plan.lanes.size(); ++rank) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const bool loads = is_of_loaders(static_cast<Lane>(lane));
      const int readers = loads ? plan.program(static_cast<int>(rank)).readers : 1;
      const std::vector<LinkId>& links = plan.lanes[rank][lane];
      if (!links.empty())
        add({.owner = rank, .reads = true, .copies = readers, .pattern = lane}, links);
    }
  }
}

void PlanFlows::add_members(const Plan& plan) {
  const Blocks& blocks = plan.blocks;
  ends_.push_back(0);
  for (const Group& group : plan.groups) {
    for (const int rank : group.ranks) {
      if (blocks.block_of(rank) == 0)
        members_.push_back(static_cast<std::uint32_t>(blocks.index_of(rank)));
    }
    const std::size_t in_first = members_.size() - ends_.back();
    spans_.push_back(static_cast<int>(group.ranks.size() / in_first));
    ends_.push_back(members_.size());
  }
}

void PlanFlows::add_streams(const Plan& plan) {
  std::size_t before = 0;  // where the flows of the group before begin
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const auto& streams = plan.groups[g].streams;
    const std::size_t first = flows_.size();
    // On another channel the same ranks are the next group.
    if (g > 0 && spans_[g] == spans_[g - 1] && streams == plan.groups[g - 1].streams) {
      for (std::size_t f = before; f < first; ++f) {
        Flow flow = flows_[f];
        flow.owner = g;
        flows_.push_back(flow);
      }
    } else {
      for (std::size_t pattern = 0; pattern < kPatterns; ++pattern) {
        for (const Stream& stream : streams[pattern]) {
          add({.owner = g, .pattern = pattern, .share = stream.share, .blocks = spans_[g]},
              stream.links);
        }
      }
    }
    before = first;
  }
}

void PlanFlows::add(Flow flow, const std::vector<LinkId>& links) {
  for (const LinkId link : links) {
    const std::size_t place = links_.place_of(link);
    if (times_[place]++ == 0) seen_.push_back(static_cast<std::uint32_t>(place));
  }
  flow.begin = crossings_.size();
  for (const std::uint32_t place : seen_) {
    crossings_.push_back({place, times_[place] / flow.blocks});
    times_[place] = 0;
  }
  seen_.clear();
  flow.end = crossings_.size();
  flows_.push_back(flow);
}

}  // namespace stepsim
