// Blocks to parts, parts to stages.
#include "sim/search/stage_costs.hpp"

#include <algorithm>

namespace stepsim {
namespace {

constexpr std::size_t kNothingAgain = index_of(Recompute::none, ModuleSet::stated);

/// A part of the model with the strategy's recompute.
struct PartCost {
  BlockCost cost;
  RowTime again;
  double saved = 0;
  double above = 0;  ///< what its backward pass holds on top of what all its blocks saved
  LastWaits waits;
  RowTime backward() const { return again + cost.backward; }
  RowTime input_gradient() const { return again + cost.input_gradient; }
};

BlockCost between(const ModelCosts& model, std::size_t begin, std::size_t end) {
  const BlockCost &a = model.before[begin], &b = model.before[end];
  BlockCost cost;
  cost.forward = b.forward - a.forward;
  cost.backward = b.backward - a.backward;
  cost.input_gradient = b.input_gradient - a.input_gradient;
  cost.weight_gradient = b.weight_gradient - a.weight_gradient;
  for (std::size_t i = 0; i < kRecomputes; ++i) {
    cost.again[i] = b.again[i] - a.again[i];
    cost.saved[i] = b.saved[i] - a.saved[i];
  }
  cost.dense = b.dense - a.dense;
  cost.frozen = b.frozen - a.frozen;
  cost.experts = b.experts - a.experts;
  cost.gather = b.gather - a.gather;
  cost.scatter = b.scatter - a.scatter;
  return cost;
}

/// The moment at which the last block of the part that is a layer, or the head after it, runs
/// backward.
double above_saved(const ModelCosts& model, std::size_t begin, std::size_t end,
                   std::size_t recompute) {
  double above = 0, freed = 0;
  for (std::size_t i = end; i-- > begin;) {
    const std::size_t block = model.graph.chain[i];
    const bool is_layer = model.graph.blocks[block].is_layer();
    const std::size_t how = is_layer ? recompute : kNothingAgain;
    const BlockCost& cost = model.blocks[block];
    above = std::max(above, cost.peak[how] - cost.saved[how] - freed);
    freed += cost.saved[how];
    if (is_layer) break;
  }
  return above;
}

/// Costs of a part that has `count` layers, from the `first` on; head and embedding lie outside.
PartCost part_of(const ModelCosts& model, const Strategy& s, std::size_t begin, std::size_t end,
                 std::size_t first, std::size_t count) {
  const std::size_t how = index_of(s.recompute, s.modules), all = kNothingAgain;
  PartCost part{.cost = between(model, begin, end)};
  // Layers beyond the first ones keep everything.
  const bool some = s.recomputed_layers > 0;
  const std::size_t repeats = some ? static_cast<std::size_t>(s.recomputed_layers) : count;
  part.saved = part.cost.saved[all];
  if (repeats > 0) {
    const BlockCost repeated =
        between(model, model.layers[first], model.layers[first + repeats - 1] + 1);
    part.again = repeated.again[how];
    part.saved += repeated.saved[how] - repeated.saved[all];
  }
  part.above = above_saved(model, begin, end, some ? kNothingAgain : how);
  // Backward passes end with the first block.
  part.waits = model.blocks[model.graph.chain[begin]].waits;
  part.waits.forward = model.blocks[model.graph.chain[end - 1]].waits.forward;
  return part;
}

std::vector<PartCost> parts_of(const ModelCosts& model, const Strategy& s) {
  const auto layers = static_cast<std::int64_t>(model.layers.size());
  const auto sizes =
      s.stages == 1 ? std::vector<std::int64_t>{layers} : dealt_layers(layers, s.parts());
  std::vector<PartCost> parts;
  std::size_t first = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto count = static_cast<std::size_t>(sizes[i]);
    const std::size_t next = first + count;
    const std::size_t begin = i == 0 ? 0 : model.layers[first];
    const std::size_t end = i + 1 == sizes.size() ? model.graph.chain.size() : model.layers[next];
    parts.push_back(part_of(model, s, begin, end, first, count));
    first = next;
  }
  return parts;
}

class Stages {
 public:
  Stages(const Scenario& scenario, const Strategy& strategy, const ModelCosts& model,
         const ScheduleFacts& facts, const SplitShapes& shapes)
      : strategy_(strategy),
        model_(model),
        facts_(facts),
        shapes_(shapes),
        waits_for_transfers_(!scenario.parallelism.pipeline.overlap_p2p &&
                             !strategy.schedule->needs.takes_turns),
        parts_(parts_of(model, strategy)) {
    fill_.assign(1, 0.0);
    drain_.assign(1, 0.0);
    for (std::size_t part = 0; part + 1 < parts_.size(); ++part) {
      fill_.push_back(fill_.back() + parts_[part].cost.forward.seconds + hop(part));
      drain_.push_back(drain_.back() + backward_chain(parts_[part]) + hop(part));
    }
  }

  std::vector<StageCost> all() const {
    std::vector<StageCost> stages;
    for (const auto& parts : facts_.parts) stages.push_back(stage_of(parts));
    return stages;
  }

  std::vector<PartTimes> part_times() const {
    std::vector<PartTimes> times;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const PartCost& p = parts_[part];
      times.push_back({.forward = p.cost.forward.seconds,
                       .backward = p.backward().seconds,
                       .input_gradient = p.input_gradient().seconds,
                       .weight_gradient = p.cost.weight_gradient.seconds,
                       .waits = p.waits,
                       .hop = part + 1 < parts_.size() ? hop(part) : 0});
    }
    return times;
  }

 private:
  StageCost stage_of(const std::vector<int>& parts) const {
    StageCost stage{.fill = 1e300, .drain = 1e300, .saved = 1e300, .above = 1e300};
    for (const int part : parts) add(stage, static_cast<std::size_t>(part));
    const PartCost& first = parts_[static_cast<std::size_t>(parts.front())];
    // In a split order a forward pass may come between the halves of the last backward.
    stage.first_chunk = own_backward(first) + (facts_.splits ? first.cost.forward.seconds : 0);
    stage.chunk_dense = first.cost.dense;
    stage.chunk_experts = first.cost.experts;
    if (strategy_.schedule->needs.copies > 1) take_either(stage, parts);
    // A head beside the embedding has no weights of its own.
    const int last = static_cast<int>(parts_.size()) - 1;
    const auto holds = [&](int part) { return std::ranges::find(parts, part) != parts.end(); };
    if (!model_.graph.without_copy.empty() && last > 0 && holds(0) && holds(last))
      stage.dense -= model_.graph.tied_elements;
    return stage;
  }

  /// Micro-batches come from both ends: any chunk may be done last.
  void take_either(StageCost& stage, const std::vector<int>& parts) const {
    for (const int index : parts) {
      const PartCost& part = parts_[static_cast<std::size_t>(index)];
      stage.first_chunk =
          std::max(stage.first_chunk, own_backward(part) + part.cost.forward.seconds);
      stage.chunk_dense = std::min(stage.chunk_dense, part.cost.dense);
      stage.chunk_experts = std::min(stage.chunk_experts, part.cost.experts);
    }
  }

  void add(StageCost& stage, std::size_t index) const {
    const PartCost& part = parts_[index];
    const double wait = waits(index);
    stage.forward += part.cost.forward.seconds;
    stage.backward += own_backward(part);
    stage.input += std::min(backward_chain(part), own_backward(part));
    stage.wait += wait;
    // Gradients of weights run beside transfers.
    stage.idle += facts_.splits ? std::max(wait - part.cost.weight_gradient.seconds, 0.0) : wait;
    stage.launches += part.cost.forward.launches + part.backward().launches;
    stage.gather += part.cost.gather;
    stage.scatter += part.cost.scatter;
    stage.dense += part.cost.dense;
    stage.frozen += part.cost.frozen;
    stage.experts += part.cost.experts;
    stage.saved = std::min(stage.saved, part.saved);
    stage.above = std::min(stage.above, part.above);
    // The stage's waits have the first hop to it already.
    const double own_hop = index > 0 && wait > 0 ? hop(index - 1) : 0;
    stage.fill = std::min(stage.fill, fill_[index] - own_hop);
    stage.drain = std::min(stage.drain, drain_[index]);
  }

  double hop(std::size_t part) const {
    const int from = facts_.stage[part], to = facts_.stage[part + 1];
    if (from == to) return 0;
    const bool far = shapes_.hop_out[static_cast<std::size_t>(std::min(from, to))];
    return (far ? model_.far_transfer : model_.transfer) + model_.collect;
  }

  /// Seconds of backward that the stage before waits for.
  double backward_chain(const PartCost& part) const {
    const double whole = part.backward().seconds;
    return facts_.splits ? std::min(whole, part.input_gradient().seconds) : whole;
  }

  double own_backward(const PartCost& part) const {
    const double whole = part.backward().seconds;
    if (!facts_.splits) return whole;
    const double split = part.input_gradient().seconds + part.cost.weight_gradient.seconds;
    return facts_.all_split ? split : std::min(whole, split);
  }

  /// Transfers that the compute row waits for before a pass of the part and before its gradients;
  /// what it sends itself travels beside them.
  double waits(std::size_t part) const {
    if (!waits_for_transfers_) return 0;
    return (part > 0 ? hop(part - 1) : 0) + (part + 1 < parts_.size() ? hop(part) : 0);
  }

  const Strategy& strategy_;
  const ModelCosts& model_;
  const ScheduleFacts& facts_;
  const SplitShapes& shapes_;
  bool waits_for_transfers_;
  std::vector<PartCost> parts_;
  std::vector<double> fill_, drain_;  ///< by part
};

}  // namespace

std::vector<StageCost> stage_costs(const Scenario& scenario, const Strategy& strategy,
                                   const ModelCosts& model, const ScheduleFacts& facts,
                                   const SplitShapes& shapes) {
  return Stages(scenario, strategy, model, facts, shapes).all();
}

std::vector<PartTimes> part_times(const Scenario& scenario, const Strategy& strategy,
                                  const ModelCosts& model, const ScheduleFacts& facts,
                                  const SplitShapes& shapes) {
  return Stages(scenario, strategy, model, facts, shapes).part_times();
}

}  // namespace stepsim
