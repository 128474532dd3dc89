// Groups of experts' ranks, dealt to nodes by the order of ranks.
#include "sim/scenario/expert_nodes.hpp"

#include <map>
#include <utility>
#include <vector>

#include "sim/scenario/expert_mesh.hpp"

namespace stepsim {

std::optional<int> nodes_of_experts(const Scenario& scenario) {
  std::optional<int> each;
  for (int stage = 0; stage < scenario.parallelism.pipeline.stages; ++stage) {
    for (const auto& parts : expert_holders(scenario, stage)) {
      // Ranks of each group on each node: the first holders of all parts are one group.
      std::map<std::pair<std::size_t, int>, int> ranks;
      for (const std::vector<int>& holders : parts) {
        for (std::size_t group = 0; group < holders.size(); ++group)
          ++ranks[{group, holders[group] / scenario.cluster.gpus_per_node}];
      }
      for (const auto& [place, on_node] : ranks) {
        if (each.value_or(on_node) != on_node) return std::nullopt;
        each = on_node;
      }
    }
  }
  return each ? std::optional(scenario.parallelism.expert.degree / *each) : std::nullopt;
}

}  // namespace stepsim
