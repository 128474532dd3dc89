// Groups of experts' ranks, dealt to nodes by the order of ranks.
#include "sim/scenario/expert_nodes.hpp"

#include <map>
#include <utility>
#include <vector>

#include "sim/scenario/rank_order.hpp"

namespace stepsim {
namespace {

/// How many of the holders, which have the same dense parameters, each group has on each node. A
/// group has one rank of each share of the experts: the first ones are one group, the second ones
/// the next.
std::map<std::pair<int, int>, int> ranks_by_node(const std::vector<int>& holders,
                                                 const Scenario& scenario) {
  std::vector<int> groups(static_cast<std::size_t>(scenario.parallelism.expert.degree), 0);
  std::map<std::pair<int, int>, int> ranks;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    const auto share = static_cast<std::size_t>(expert_index(static_cast<int>(i), scenario));
    ++ranks[{groups[share]++, holders[i] / scenario.cluster.gpus_per_node}];
  }
  return ranks;
}

}  // namespace

std::optional<int> nodes_of_experts(const Scenario& scenario) {
  const Parallelism& split = scenario.parallelism;
  std::optional<int> each;
  for (int stage = 0; stage < split.pipeline.stages; ++stage) {
    for (int tensor = 0; tensor < split.tensor; ++tensor) {
      for (const auto& [place, ranks] :
           ranks_by_node(holders_of(tensor, stage, scenario), scenario)) {
        if (each.value_or(ranks) != ranks) return std::nullopt;
        each = ranks;
      }
    }
  }
  return each ? std::optional(split.expert.degree / *each) : std::nullopt;
}

}  // namespace stepsim
