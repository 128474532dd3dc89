// What a caller keeps of its last plan for the next one.
//
// Points of a sweep that differ in other keys have the groups of the one before: a tenth of the
// instructions of a point on 16,384 GPUs. What-ifs, and points that differ in sizes, have its
// classes of ranks as well. A caller hands its cache to make_plan; plans without one start anew.
#pragma once

#include <optional>
#include <vector>

#include "sim/plan/fold.hpp"
#include "sim/plan/group/groups.hpp"

namespace stepsim {

/// Classes of ranks, and what they follow from where a plan draws nothing, reads nothing and has no
/// slow links. The background of links is the cluster's: equal groups have the same.
struct KnownFolding {
  Shared<std::vector<Group>> groups;
  std::vector<int> program_of;
  Links links;
  Folding folding;
};

struct PlanCache {
  std::optional<KnownGroups> groups;
  std::optional<KnownFolding> folding;
};

}  // namespace stepsim
