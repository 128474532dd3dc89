// A plan that is being written: what for, and what it has so far.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/plan/fault/slowest_gpu.hpp"
#include "sim/plan/pass/piece.hpp"
#include "sim/plan/pass/segment_key.hpp"
#include "sim/plan/plan.hpp"

namespace stepsim {

/// Names of a plan's tasks, kernels and operations, each stored once.
class PlanNames {
 public:
  /// `names`: Plan::names, which it adds to.
  explicit PlanNames(std::vector<std::string>& names) : names_(names) {
    for (std::uint32_t i = 0; i < names.size(); ++i) index_.emplace(names[i], i);
  }

  /// The name's index.
  std::uint32_t operator()(const std::string& name) {
    const auto [entry, is_new] = index_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return entry->second;
  }

 private:
  std::vector<std::string>& names_;
  std::map<std::string, std::uint32_t> index_;
};

/// The scenario and its ops, the plan to which programs are added, and what has been compiled and
/// timed for it. Layers and stages are alike: what one of them needs is made once for all.
struct PlanDraft {
  const Scenario& scenario;
  const OpGraph& graph;
  Plan& plan;
  PlanNames name{plan.names};
  std::vector<bool> saves{};                            ///< by step: whether a checkpoint follows
  std::map<SegmentKey, Segment> segments{};             ///< passes that have been compiled
  std::vector<std::uint32_t> span_names{};              ///< by chain; see RankRows
  std::unordered_map<const Launch*, Kernel> kernels{};  ///< by launch of the graph
  Pace pace = pace_of_slowest(scenario);
  std::map<std::tuple<CollectiveOp, Bytes, GroupShape>, std::uint32_t> pass_operations{};
  std::map<std::pair<Bytes, GroupShape>, std::uint32_t>
      exchanges{};                                                 ///< operations that move tokens
  std::map<std::pair<Bytes, GroupShape>, std::uint32_t> copies{};  ///< shifts by copy engines
  bool pairs = overlaps_exchanges(scenario);                       ///< segments have turns
};

}  // namespace stepsim
