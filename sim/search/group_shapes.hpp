// How the groups of a strategy lie on the cluster, without making the groups of every rank.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "sim/cluster/network.hpp"
#include "sim/plan/program/stage_shape.hpp"
#include "sim/search/strategy.hpp"

namespace stepsim {

/// Groups of the first tensor rank of the first replica.
struct SplitShapes {
  /// Groups of each kind, by stage; stages of equal groups stand once. Where nodes do not hold
  /// whole groups there are several, and a bound is the least that any of them makes possible.
  std::vector<StageShape> groups;
  std::vector<bool> hop_out;  ///< by stage: whether the next stage is on another node
};

/// Finds groups, and keeps them for strategies that split alike.
class GroupShapes {
 public:
  explicit GroupShapes(const Network& network) : network_(network) {}
  /// `scenario` has the strategy.
  const SplitShapes& of(const Scenario& scenario, const Strategy& strategy);

 private:
  SplitShapes made(const Scenario& scenario) const;
  GroupShape shape_of(std::vector<int> ranks) const;

  const Network& network_;
  std::map<std::tuple<int, int, int, int, int, int, int, int>, SplitShapes> known_;
};

}  // namespace stepsim
