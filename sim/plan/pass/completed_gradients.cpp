// Gradients of a chunk, last block first.
#include "sim/plan/pass/completed_gradients.hpp"

#include <variant>

#include "sim/plan/pass/buckets.hpp"

namespace stepsim {

std::vector<CompletedGradient> completed_gradients(const OpGraph& graph,
                                                   const std::vector<std::size_t>& blocks) {
  std::vector<CompletedGradient> gradients;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const auto order = graph.blocks[*block].order();
    for (auto op = order.rbegin(); op != order.rend(); ++op) {
      for (const Item& item : (*op)->backward) {
        if (const auto* ready = std::get_if<GradientReady>(&item))
          gradients.push_back({*op, *ready});
      }
    }
  }
  return gradients;
}

std::array<std::vector<bool>, 2> ends_of_buckets(const Scenario& scenario, const OpGraph& graph,
                                                 const std::vector<std::size_t>& blocks) {
  std::array<std::vector<Bytes>, 2> gradients;
  for (const auto& [op, ready] : completed_gradients(graph, blocks))
    gradients[ready.expert ? 1 : 0].emplace_back(ready.elements * gradient_bytes(scenario));
  const DataParallel& data = scenario.parallelism.data;
  return {bucket_ends(gradients[0], data), bucket_ends(gradients[1], data)};
}

double gradient_bytes(const Scenario& scenario) {
  return bytes_per_element(scenario.training.gradients);
}

}  // namespace stepsim
