// Parts of the experts that the chosen ones fall on.
#include "sim/ops/token_routes.hpp"

#include <algorithm>

namespace stepsim {
namespace {

/// How many of `parts` equal parts of `experts` have any of the `chosen` experts, on average.
double reached(double parts, double experts, std::int64_t chosen) {
  const double each = experts / parts;
  double none = 1;
  for (std::int64_t i = 0; i < chosen; ++i) {
    const auto gone = static_cast<double>(i);
    none *= std::max(experts - each - gone, 0.0) / std::max(experts - gone, 1.0);
  }
  return parts * (1 - none);
}

}  // namespace

ChosenExperts chosen_experts(const Scenario& scenario) {
  const Experts& experts = *std::get<Transformer>(scenario.model.shape).experts;
  return {experts.count, experts.top_k, scenario.parallelism.expert.nodes};
}

TokenRoutes token_routes(const ChosenExperts& chosen, int ranks, int nodes) {
  const double of_node = static_cast<double>(chosen.count) / nodes;
  const double among = std::min(chosen.nodes.value_or(nodes), nodes);
  const double experts = among * of_node;
  return {.ranks = reached(among * ranks / nodes, experts, chosen.top_k),
          .nodes = reached(among, experts, chosen.top_k)};
}

}  // namespace stepsim
