// What ranks and groups put on links: the nodes and edges between them that folding colours.
//
// Where blocks of nodes are alike (Plan::blocks), the graph has the ranks of the first block only,
// and the first link of each kind; both are numbered by their places among these. Flows of the other
// blocks cross a first link as often as this block's flow crosses the links that are like it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/plan/plan.hpp"

namespace stepsim {

/// The links that stand for all: each, where there is one block.
class FirstLinks {
 public:
  explicit FirstLinks(const Plan& plan);

  std::size_t size() const { return links_.empty() ? network_.links().size() : links_.size(); }
  LinkId link(std::size_t place) const {
    return links_.empty() ? static_cast<LinkId>(place) : links_[place];
  }
  /// The place of a link, or of the one that stands for it.
  std::size_t place_of(LinkId link) const;

 private:
  const Network& network_;
  Blocks blocks_;
  std::vector<LinkId> links_;  ///< in order; {}: all
};

/// How often a link is crossed.
struct Crossings {
  std::uint32_t place = 0;
  int times = 0;
};

/// Some of a group's ranks, or all: those of the first block.
struct Members {
  std::span<const std::uint32_t> places;
  int blocks = 1;  ///< each place stands for a rank of so many blocks
};

/// One stream of one group, or what one rank reads on a lane.
struct Flow {
  std::size_t owner = 0;  ///< group, or place of a rank for reads
  bool reads = false;
  int copies = 1;           ///< reads: rows that may read at once
  std::size_t pattern = 0;  ///< reads: the lane
  double share = 1;
  int blocks = 1;                  ///< it crosses in each of so many what it crosses in the first
  std::size_t begin = 0, end = 0;  ///< into the crossings of PlanFlows
};

class PlanFlows {
 public:
  explicit PlanFlows(const Plan& plan);

  const FirstLinks& links() const { return links_; }
  const std::vector<Flow>& all() const { return flows_; }
  const Flow& operator[](std::size_t i) const { return flows_[i]; }
  std::size_t size() const { return flows_.size(); }
  std::span<const Crossings> of(const Flow& flow) const {
    return std::span(crossings_).subspan(flow.begin, flow.end - flow.begin);
  }
  Members members(std::size_t group) const {
    const std::size_t begin = ends_[group], end = ends_[group + 1];
    return {std::span(members_).subspan(begin, end - begin), spans_[group]};
  }

 private:
  void add_members(const Plan& plan);
  void add_streams(const Plan& plan);
  void add(Flow flow, const std::vector<LinkId>& links);

  FirstLinks links_;
  std::vector<Flow> flows_;
  std::vector<Crossings> crossings_;
  std::vector<std::uint32_t> members_;
  std::vector<std::size_t> ends_;    ///< of each group's members, after a 0
  std::vector<int> spans_;           ///< blocks of each group
  std::vector<int> times_;           ///< by place of a link; all 0 between calls
  std::vector<std::uint32_t> seen_;  ///< places of the flow that is added
};

}  // namespace stepsim
