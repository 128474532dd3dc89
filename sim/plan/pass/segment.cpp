// Compiling passes into segments.
#include "sim/plan/pass/segment.hpp"

#include "sim/plan/matrix_owners.hpp"
#include "sim/plan/pass/buckets.hpp"
#include "sim/plan/pass/parameter_gathers.hpp"
#include "sim/plan/pass/recompute.hpp"
#include "sim/plan/pass/sharded_pass.hpp"
#include "sim/plan/program/optimizer.hpp"

namespace stepsim {
namespace {

/// A span of the chunk backward; layers that are recomputed as one run forward again before that.
void run_backward(PassWriter& writer, const OpGraph& graph, const std::vector<std::size_t>& blocks,
                  const RecomputeSpan& span, PassKind pass) {
  const bool as_one = span.size() > 1;
  if (as_one && pass != PassKind::weight_gradient)
    writer.host().spend(host_cost::checkpoint.backward);
  for (std::size_t i = span.begin; as_one && i < span.end; ++i) {
    if (pass != PassKind::weight_gradient)
      run_forward(writer, graph.blocks[blocks[i]], Cause::recompute);
  }
  for (std::size_t i = span.end; i-- > span.begin;)
    run_backward(writer, graph.blocks[blocks[i]], as_one ? Recomputation{} : span.how, pass);
}

/// The shape without what only tasks between passes depend on.
StageShape shape_of_passes(StageShape shape) {
  shape.stage = 0;
  shape.loads = false;
  shape.writes = {};
  shape.of(Channel::model) = shape.of(Channel::embedding) = {};
  shape.between_nodes = {};
  shape.collects_early = 0;
  return shape;
}

Segment forward_segment(PlanDraft& draft, const std::vector<std::size_t>& blocks,
                        const AroundOps& around, PassWriter& writer) {
  for (const RecomputeSpan& span :
       recompute_spans(draft.scenario.training.recompute, draft.graph, blocks)) {
    if (span.how.kind == Recompute::full) writer.host().spend(host_cost::checkpoint.forward);
    for (std::size_t i = span.begin; i < span.end; ++i)
      run_forward(writer, draft.graph.blocks[blocks[i]], Cause::forward, span.how, around);
  }
  writer.reduce_amax(blocks.size());
  return writer.finish();
}

Segment forward_segment(PlanDraft& draft, const StageShape& shape, const SegmentKey& key) {
  PassWriter writer(draft, shape);
  if (shards_parameters(draft, shape)) {
    const bool is_there = keeps_gathered(draft, shape) && key.gather == ParameterGather::none;
    run_sharded_forward(writer, draft, shape, key.blocks, !is_there);
    writer.reduce_amax(key.blocks.size());
    return writer.finish();
  }
  if (key.gather == ParameterGather::none)
    return forward_segment(draft, key.blocks, AroundOps{}, writer);
  ParameterArrivals arrivals(
      writer, draft, parameter_buckets(draft, shape, key.blocks, key.reduction), key.gather);
  const AroundOps around{.before = [&](const Op& op) { arrivals.before(op); }};
  return forward_segment(draft, key.blocks, around, writer);
}

Segment backward_segment(PlanDraft& draft, const StageShape& shape,
                         const std::vector<std::size_t>& blocks, PassKind pass,
                         Reduction reduction) {
  PassWriter writer(draft, shape);
  if (shards_parameters(draft, shape)) {
    run_sharded_backward(writer, draft, shape, blocks, pass, reduction);
    if (pass != PassKind::weight_gradient) writer.reduce_amax(blocks.size());
    return writer.finish();
  }
  writer.reduce(
      reduction,
      reduction == Reduction::buckets ? ends_of_buckets(draft.scenario, draft.graph, blocks)
                                      : std::array<std::vector<bool>, 2>{},
      exchanged_times(draft.scenario, draft.graph, blocks, reduction == Reduction::buckets));
  const auto spans = recompute_spans(draft.scenario.training.recompute, draft.graph, blocks);
  for (auto span = spans.rbegin(); span != spans.rend(); ++span)
    run_backward(writer, draft.graph, blocks, *span, pass);
  if (pass != PassKind::weight_gradient) writer.reduce_amax(blocks.size());
  writer.flush_buckets();
  if (copies_gradients(draft.scenario) || casts_buckets(draft.scenario)) writer.unpack_buckets();
  return writer.finish();
}

}  // namespace

const Segment& segment_of(PlanDraft& draft, const StageShape& shape,
                          const std::vector<std::size_t>& blocks, PassKind pass,
                          Reduction reduction, ParameterGather gather) {
  const auto [entry, is_new] =
      draft.segments.try_emplace({pass, reduction, gather, blocks, shape_of_passes(shape)});
  const StageShape& of_passes = entry->first.shape;
  if (is_new) {
    entry->second = pass == PassKind::forward
                        ? forward_segment(draft, of_passes, entry->first)
                        : backward_segment(draft, of_passes, blocks, pass, reduction);
  }
  return entry->second;
}

}  // namespace stepsim
