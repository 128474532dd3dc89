// Layers dealt to the parts of a pipeline.
#include "sim/plan/program/stage_blocks.hpp"

#include <algorithm>

#include "sim/plan/schedule.hpp"

namespace stepsim {

std::vector<std::size_t> blocks_of(const Scenario& scenario, const OpGraph& graph, int stage,
                                   int chunk) {
  const Pipeline& pipeline = scenario.parallelism.pipeline;
  const Placement placement = placement_of(scenario);
  const auto parts = static_cast<std::size_t>(placement.parts());
  const auto part = static_cast<std::size_t>(placement.part({stage, chunk}));
  // The blocks before the first layer and after the last go with the first and the last part.
  const auto is_layer = [&](std::size_t block) { return graph.blocks[block].is_layer(); };
  const auto layers = static_cast<std::size_t>(std::ranges::count_if(graph.chain, is_layer));
  const auto before =
      static_cast<std::size_t>(std::ranges::find_if(graph.chain, is_layer) - graph.chain.begin());
  std::vector<std::size_t> sizes(parts, layers / parts);
  for (std::size_t i = 0; i < pipeline.layers.size(); ++i)
    sizes[i] = static_cast<std::size_t>(pipeline.layers[i]);
  std::size_t begin = before;
  for (std::size_t i = 0; i < part; ++i) begin += sizes[i];
  std::size_t end = begin + sizes[part];
  if (part == 0) begin = 0;
  if (part + 1 == parts) end = graph.chain.size();
  std::vector<std::size_t> blocks{graph.chain.begin() + static_cast<std::ptrdiff_t>(begin),
                                  graph.chain.begin() + static_cast<std::ptrdiff_t>(end)};
  // What uses the embedding beside it has no copy of its own.
  if (part + 1 == parts && placement.holds(stage, 0)) {
    for (std::size_t& block : blocks) {
      if (const auto other = graph.without_copy.find(block); other != graph.without_copy.end())
        block = other->second;
    }
  }
  return blocks;
}

}  // namespace stepsim
