// Follows memory along the order of a schedule.
#include "sim/plan/memory/memory_walk.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "sim/ops/offloaded.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/plan/pass/gathered_parameters.hpp"
#include "sim/plan/pass/recompute.hpp"
#include "sim/plan/program/stage_blocks.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

using Blocks = std::vector<std::size_t>;

PassMemory& of(ChunkMemory& memory, PassKind kind) {
  return memory[static_cast<std::size_t>(kind)];
}

Working kept_for_weights(const Block& block) { return {.activations = block.kept_for_weights()}; }

/// What the forward pass of a span saves. A span that is recomputed as one keeps what enters its
/// first block.
Working saved_by(const OpGraph& graph, const Blocks& blocks, const RecomputeSpan& span) {
  Working saved;
  const std::size_t end = span.how.kind == Recompute::full ? span.begin + 1 : span.end;
  for (std::size_t i = span.begin; i < end; ++i)
    saved += saved_by(graph.blocks[blocks[i]], span.how);
  return saved;
}

/// What of the span's activations is on the host between its passes.
Working away(const OpGraph& graph, const Blocks& blocks, const RecomputeSpan& span,
             const Training& training) {
  if (span.size() > 1) return {};
  return {.activations = offloaded_bytes(graph.blocks[blocks[span.begin]], span.how, training)};
}

/// Copies of weights that autocast keeps until the forward pass ends, though the blocks are
/// recomputed and keep none.
Bytes cached_copies(const OpGraph& graph, const Blocks& blocks, const RecomputeSpan& span) {
  Bytes sum;
  if (span.how.kind != Recompute::full) return sum;
  for (std::size_t i = span.begin; i < span.end; ++i)
    sum += graph.blocks[blocks[i]].weight_copies();
  return sum;
}

/// The last layer's activations, and those of the layer before it, may still be on their way.
PassMemory forward(const OpGraph& graph, const Blocks& blocks, const Training& training) {
  PassMemory pass;
  Working last, before, cached;
  for (const RecomputeSpan& span : recompute_spans(training.recompute, graph, blocks)) {
    const Working gone = away(graph, blocks, span, training);
    pass.leaves += saved_by(graph, blocks, span);
    pass.leaves -= gone;
    cached.activations += cached_copies(graph, blocks, span);
    if (gone.total() > Bytes{0}) before = std::exchange(last, gone);
    pass.moments.push_back({pass.leaves + last + before + cached, pass.leaves,
                            graph.blocks[blocks[span.begin]].name, ""});
  }
  pass.most = pass.leaves + last + before + cached;
  if (!blocks.empty()) pass.block = graph.blocks[blocks.back()].name;
  return pass;
}

/// The peak while block i of the span runs backward: its own, and where the span is recomputed as
/// one, all that the blocks before it keep.
BlockPeak peak_in(const OpGraph& graph, const Blocks& blocks, const RecomputeSpan& span,
                  std::size_t i) {
  const Block& block = graph.blocks[blocks[i]];
  if (span.size() == 1) return backward_peak(block, span.how);
  BlockPeak peak = backward_peak(block, Recompute::none);
  const Bytes input = graph.blocks[blocks[span.begin]].input;
  Bytes again = peak.held.activations;
  for (std::size_t j = span.begin; j < i; ++j)
    again += graph.blocks[blocks[j]].saved(Recompute::none);
  peak.held.recomputed = std::max(again - input, Bytes{0});
  peak.held.activations = input;
  return peak;
}

/// A backward pass. `whole` says that weight gradients are part of it.
PassMemory backward(const OpGraph& graph, const Blocks& blocks, const Training& training,
                    bool whole) {
  PassMemory pass;
  const auto spans = recompute_spans(training.recompute, graph, blocks);
  for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
    Working saved = saved_by(graph, blocks, *span);
    saved -= away(graph, blocks, *span, training);
    // Offloaded activations of the layer before this span come back meanwhile.
    const auto next = std::next(span);
    const Working ahead = next == spans.rend() ? Working{} : away(graph, blocks, *next, training);
    BlockMoment moment;
    for (std::size_t i = span->end; i-- > span->begin;) {
      const BlockPeak peak = peak_in(graph, blocks, *span, i);
      const Working here = pass.leaves - saved + peak.held + ahead;
      if (moment.op.empty() || here.total() > moment.most.total())
        moment = {here, {}, graph.blocks[blocks[i]].name, peak.op};
      if (!whole) pass.leaves += kept_for_weights(graph.blocks[blocks[i]]);
    }
    pass.leaves -= saved;
    moment.leaves = pass.leaves;
    if (pass.op.empty() || moment.most.total() > pass.most.total()) {
      pass.most = moment.most;
      pass.block = moment.block;
      pass.op = moment.op;
    }
    pass.moments.push_back(std::move(moment));
  }
  return pass;
}

PassMemory weight_gradients(const OpGraph& graph, const Blocks& blocks) {
  PassMemory pass;
  for (const std::size_t index : blocks) pass.leaves -= kept_for_weights(graph.blocks[index]);
  if (!blocks.empty()) pass.block = graph.blocks[blocks.back()].name;
  return pass;
}

/// The moment of the block that runs in that turn; a pass that is through holds what it leaves.
BlockMoment moment_at(const PassMemory& pass, std::size_t turn) {
  if (turn < pass.moments.size()) return pass.moments[turn];
  return {pass.leaves, pass.leaves, pass.block, pass.op};
}

}  // namespace

PassMemory in_turns(const PassMemory& forward, const PassMemory& backward) {
  PassMemory both{.leaves = forward.leaves + backward.leaves};
  const std::size_t turns = std::max(forward.moments.size(), backward.moments.size());
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const BlockMoment ahead = moment_at(forward, turn), back = moment_at(backward, turn);
    const Working here = ahead.most + back.most;
    if (turn > 0 && here.total() <= both.most.total()) continue;
    both.most = here;
    both.block = back.block;
    both.op = back.op;
  }
  both.most.gathered = forward.most.gathered;
  return both;
}

ChunkMemory chunk_memory(const Scenario& scenario, const OpGraph& graph, int stage, int chunk) {
  const Blocks blocks = blocks_of(scenario, graph, stage, chunk);
  const Training& training = scenario.training;
  ChunkMemory memory;
  of(memory, PassKind::forward) = forward(graph, blocks, training);
  of(memory, PassKind::backward) = backward(graph, blocks, training, true);
  of(memory, PassKind::input_gradient) = backward(graph, blocks, training, false);
  of(memory, PassKind::weight_gradient) = weight_gradients(graph, blocks);
  Blocks of_stage;
  for (int other = 0; other < scenario.parallelism.pipeline.chunks; ++other) {
    const Blocks more = blocks_of(scenario, graph, stage, other);
    of_stage.insert(of_stage.end(), more.begin(), more.end());
  }
  const Bytes gathered = gathered_bytes(scenario, graph, of_stage);
  for (PassMemory& pass : memory) pass.most.gathered = gathered;
  return memory;
}

PeakMoment peak_moment(const Scenario& scenario, const OpGraph& graph, int stage) {
  std::vector<ChunkMemory> chunks;
  for (int chunk = 0; chunk < scenario.parallelism.pipeline.chunks; ++chunk)
    chunks.push_back(chunk_memory(scenario, graph, stage, chunk));
  Working now;
  PeakMoment peak;
  const auto memory_of = [&](const Action& action) -> const PassMemory& {
    return chunks[static_cast<std::size_t>(action.chunk)][static_cast<std::size_t>(action.pass)];
  };
  const std::vector<Action> order = schedule_of(scenario).order(shape_of(scenario), stage);
  const bool pairs = overlaps_exchanges(scenario);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool joined = pairs && i + 1 < order.size() && order[i + 1].joined;
    const PassMemory pass =
        joined ? in_turns(memory_of(order[i]), memory_of(order[i + 1])) : memory_of(order[i]);
    if (joined) ++i;
    const Working here = now + pass.most;
    if (here.total() > peak.held.total()) peak = {here, order[i], pass.block, pass.op};
    now += pass.leaves;
  }
  return peak;
}

}  // namespace stepsim
