// Spans of recomputed layers, and their FLOPs.
#include "sim/plan/pass/recompute.hpp"

#include "sim/ops/flop_convention.hpp"
#include "sim/plan/program/stage_blocks.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
std::vector<RecomputeSpan> recompute_spans(const Recomputation& recompute, const OpGraph& graph,
                                           const std::vector<std::size_t>& blocks) {
  const bool full = recompute.kind == Recompute::full;
  const auto limit = static_cast<std::size_t>(recompute.layers);
  const bool in_groups = full && recompute.method == RecomputeMethod::uniform;
  const bool first_ones = full && recompute.method == RecomputeMethod::block;
  const auto is_layer = [&](std::size_t i) { return graph.blocks[blocks[i]].recomputable; };
  std::vector<RecomputeSpan> spans;
  std::size_t layers = 0;
  for (std::size_t i = 0; i < blocks.size();) {
    RecomputeSpan span{i, i + 1, is_layer(i) ? recompute : Recomputation{}};
    // The first layers are the decoder's, not those of a tower before it.
    const bool is_front = graph.blocks[blocks[i]].place == BlockPlace::front;
    if (is_layer(i) && first_ones && (is_front || layers >= limit)) span.how = Recompute::none;
    while (in_groups && span.size() < limit && is_layer(i) && span.end < blocks.size() &&
           is_layer(span.end))
      ++span.end;
    if (is_layer(i) && !is_front) layers += span.size();
    i = span.end;
    spans.push_back(std::move(span));
  }
  return spans;
}

Flops hardware_flops(const Scenario& scenario, const OpGraph& graph) {
  const FlopConvention& convention = flop_convention(scenario.run.flops, scenario.model);
  const Pipeline& pipeline = scenario.parallelism.pipeline;
  // Stages that hold the same part share its micro-batches.
  const double passes = static_cast<double>(scenario.micro_batches()) *
                        scenario.parallelism.tensor * scenario.replicas() /
                        schedule_of(scenario).needs.copies;
  Flops again;
  for (int stage = 0; stage < pipeline.stages; ++stage) {
    for (int chunk = 0; chunk < pipeline.chunks; ++chunk) {
      const auto blocks = blocks_of(scenario, graph, stage, chunk);
      for (const RecomputeSpan& span :
           recompute_spans(scenario.training.recompute, graph, blocks)) {
        for (std::size_t i = span.begin; i < span.end; ++i) {
          const ForwardFlops flops = graph.blocks[blocks[i]].repeated(span.how);
          again += recomputed(convention, flops.products, flops.attention) * passes;
        }
      }
    }
  }
  return graph.model_flops + again;
}

}  // namespace stepsim
