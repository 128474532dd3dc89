// Memory along the order of a schedule.
#include "sim/plan/memory_walk.hpp"

#include <vector>

#include "sim/plan/memory.hpp"
#include "sim/plan/segment.hpp"

namespace stepsim {
namespace {

using Blocks = std::vector<std::size_t>;

PassMemory& of(ChunkMemory& memory, PassKind kind) {
  return memory[static_cast<std::size_t>(kind)];
}

Working kept_for_weights(const Block& block) { return {.activations = block.kept_for_weights()}; }

PassMemory forward(const OpGraph& graph, const Blocks& blocks, Recompute recompute) {
  PassMemory pass;
  for (const std::size_t index : blocks) pass.leaves += saved_by(graph.blocks[index], recompute);
  pass.most = pass.leaves;
  if (!blocks.empty()) pass.block = graph.blocks[blocks.back()].name;
  return pass;
}

/// `whole`: weight gradients are part of it.
PassMemory backward(const OpGraph& graph, const Blocks& blocks, Recompute recompute, bool whole) {
  PassMemory pass;
  for (auto index = blocks.rbegin(); index != blocks.rend(); ++index) {
    const Block& block = graph.blocks[*index];
    const Working saved = saved_by(block, recompute);
    const BlockPeak peak = backward_peak(block, recompute);
    const Working here = pass.leaves - saved + peak.held;
    if (pass.op.empty() || here.total() > pass.most.total()) {
      pass.most = here;
      pass.block = block.name;
      pass.op = peak.op;
    }
    pass.leaves -= saved;
    if (!whole) pass.leaves += kept_for_weights(block);
  }
  return pass;
}

PassMemory weight_gradients(const OpGraph& graph, const Blocks& blocks) {
  PassMemory pass;
  for (const std::size_t index : blocks) pass.leaves -= kept_for_weights(graph.blocks[index]);
  if (!blocks.empty()) pass.block = graph.blocks[blocks.back()].name;
  return pass;
}

}  // namespace

ChunkMemory chunk_memory(const Scenario& scenario, const OpGraph& graph, int stage, int chunk) {
  const Blocks blocks = blocks_of(scenario, graph, stage, chunk);
  const Recompute recompute = scenario.training.recompute;
  ChunkMemory memory;
  of(memory, PassKind::forward) = forward(graph, blocks, recompute);
  of(memory, PassKind::backward) = backward(graph, blocks, recompute, true);
  of(memory, PassKind::input_gradient) = backward(graph, blocks, recompute, false);
  of(memory, PassKind::weight_gradient) = weight_gradients(graph, blocks);
  const Bytes gathered = gathered_bytes(scenario, graph);
  for (PassMemory& pass : memory) pass.most.gathered = gathered;
  return memory;
}

PeakMoment peak_moment(const Scenario& scenario, const OpGraph& graph, int stage) {
  std::vector<ChunkMemory> chunks;
  for (int chunk = 0; chunk < scenario.parallelism.pipeline.chunks; ++chunk)
    chunks.push_back(chunk_memory(scenario, graph, stage, chunk));
  Working now;
  PeakMoment peak;
  for (const Action& action : schedule_of(scenario).order(shape_of(scenario), stage)) {
    const PassMemory& pass =
        chunks[static_cast<std::size_t>(action.chunk)][static_cast<std::size_t>(action.pass)];
    const Working here = now + pass.most;
    if (here.total() > peak.held.total()) peak = {here, action, pass.block, pass.op};
    now += pass.leaves;
  }
  return peak;
}

}  // namespace stepsim
