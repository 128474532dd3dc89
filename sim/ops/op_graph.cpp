// From a scenario to the chain of blocks, with its totals.
#include "sim/ops/op_graph.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/ops/blocks.hpp"
#include "sim/ops/flop_convention.hpp"
#include "sim/ops/frozen.hpp"
#include "sim/ops/scalar_loads.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

void build_blocks(OpGraph& graph, const Scenario& s, const Pass& pass, const Transformer& model) {
  BlockChain chain = transformer_blocks(s, model, pass);
  graph.blocks = std::move(chain.blocks);
  graph.chain = std::move(chain.chain);
  graph.boundary = pass.carried().activation(model.hidden);
  graph.without_copy = std::move(chain.without_copy);
  if (!shares_embedding(model) || pass.frozen) return;
  graph.tied_elements = graph.blocks.front().order().front()->parameters.front();
}

void build_blocks(OpGraph& graph, const Scenario& /*s*/, const Pass& pass, const Mlp& model) {
  graph.blocks = mlp_blocks(model, pass);
  graph.chain.assign(static_cast<std::size_t>(model.layers), 0);
  graph.chain.push_back(1);
  graph.boundary = pass.activation(model.width);
}

void build_blocks(OpGraph& graph, const Scenario& /*s*/, const Pass& pass, const ResNet& model) {
  BlockChain chain = resnet_blocks(model, pass);
  graph.blocks = std::move(chain.blocks);
  graph.chain = std::move(chain.chain);
}

void build_blocks(OpGraph& graph, const Scenario& s, const Pass& pass, const Dlrm& model) {
  BlockChain chain = dlrm_blocks(model, pass, s.parallelism);
  graph.blocks = std::move(chain.blocks);
  graph.chain = std::move(chain.chain);
  graph.first_chain = std::move(chain.first_chain);
}

Flops of_adapters(const Block& block) {
  Flops sum;
  for (const Op& op : block.dag.ops) {
    if (op.adapter) sum += op.flops;
  }
  return sum;
}

/// Forward, the gradients of what enters, and those of weights: as many of these as the block has.
double block_passes(const Block& block) {
  return 1 + (block.has_gradient() ? 1 : 0) + (block.parameters() > 0 ? 1 : 0);
}

void add_totals(OpGraph& graph, const Scenario& s) {
  const FlopConvention& convention = flop_convention(s.run.flops, s.model);
  const double passes = static_cast<double>(s.micro_batches()) * s.parallelism.tensor;
  FlopTally tally{.tokens = static_cast<double>(s.training.global_batch *
                                                (s.sequence_length() + s.target_length())),
                  .is_frozen = s.training.lora || !s.training.trains(TowerPart::decoder)};
  const auto add = [&](const std::vector<std::size_t>& chain, double times) {
    for (const std::size_t index : chain) {
      const Block& block = graph.blocks[index];
      const ForwardFlops forward = block.forward_flops();
      if (block.place == BlockPlace::front) {
        tally.tower += (forward.products + forward.attention) * (block_passes(block) * times);
        continue;
      }
      const Flops adapters = of_adapters(block);
      (block.recomputable ? tally.layers : tally.head) += (forward.products - adapters) * times;
      tally.attention += forward.attention * times;
      tally.adapters += adapters * times;
    }
  };
  const int others = graph.first_chain.empty() ? s.replicas() : s.replicas() - 1;
  add(graph.chain, passes * others);
  add(graph.first_chain, passes);
  graph.model_flops = convention.model_flops(tally, parameter_tally(s.model));
  // Frameworks count tokens before experts drop some.
  const double capacity = s.parallelism.expert.capacity.value_or(1);
  graph.flop_convention = fmt::format(
      "{}: {}{}{}", convention.name, convention.description,
      tally.is_frozen ? "; frozen weights: backward 1x" : "",
      capacity < 1 ? fmt::format("; with those that a capacity of {} drops", capacity) : "");
}

}  // namespace

OpDag::Vertex OpDag::add(Op op, const std::vector<Vertex>& inputs) {
  const Vertex vertex = ops.size();
  ops.push_back(std::move(op));
  for (const Vertex input : inputs) edges.emplace_back(input, vertex);
  return vertex;
}

namespace {

/// Depth first from each op in turn: those that wait for it, then itself. The reverse of that is an
/// order in which nobody comes before what it waits for (Tarjan 1976).
class LastFirst {
 public:
  explicit LastFirst(const Block& block) : block_(block), states_(block.dag.ops.size()) {
    first_.resize(block.dag.ops.size() + 1);
    for (const auto& [from, to] : block.dag.edges) ++first_[from + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::size_t> next = first_;
    waiting_.resize(block.dag.edges.size());
    for (const auto& [from, to] : block.dag.edges) waiting_[next[from]++] = to;
    ops_.reserve(states_.size());
    for (OpDag::Vertex vertex = 0; vertex < states_.size(); ++vertex) visit(vertex);
  }
  const std::vector<const Op*>& ops() const { return ops_; }

 private:
  enum class State : std::uint8_t { unseen, open, done };

  void visit(OpDag::Vertex vertex) {
    if (states_[vertex] == State::done) return;
    if (states_[vertex] == State::open)
      throw InternalError("the ops of block '" + block_.name + "' wait for each other in a circle");
    states_[vertex] = State::open;
    for (std::size_t i = first_[vertex]; i < first_[vertex + 1]; ++i) visit(waiting_[i]);
    states_[vertex] = State::done;
    ops_.push_back(&block_.dag.ops[vertex]);
  }

  const Block& block_;
  std::vector<State> states_;
  std::vector<std::size_t> first_;      // the first of the ops that wait for an op
  std::vector<OpDag::Vertex> waiting_;  // in order of insertion
  std::vector<const Op*> ops_;
};

}  // namespace

std::vector<const Op*> Block::order() const {
  const LastFirst last(*this);
  return {last.ops().rbegin(), last.ops().rend()};
}

double Block::parameters() const {
  double sum = 0;
  for (const Op& op : dag.ops) {
    for (const double tensor : op.parameters) sum += tensor;
  }
  return sum;
}

double Block::frozen_parameters() const {
  double sum = 0;
  for (const Op& op : dag.ops) sum += std::accumulate(op.frozen.begin(), op.frozen.end(), 0.0);
  return sum;
}

bool Block::has_gradient() const { return std::ranges::any_of(dag.ops, &Op::has_gradient); }

double Block::frozen_quantised() const {
  double sum = 0;
  for (const Op& op : dag.ops) sum += op.frozen_quantised;
  return sum;
}

double Block::expert_parameters() const {
  double sum = 0;
  for (const Op& op : dag.ops) {
    if (op.expert) sum += std::accumulate(op.parameters.begin(), op.parameters.end(), 0.0);
  }
  return sum;
}

Bytes Block::tables() const {
  Bytes sum;
  for (const Op& op : dag.ops) sum += op.tables;
  return sum;
}

Bytes Block::saved(const Recomputation& recompute) const {
  if (recomputable && recompute.kind == Recompute::full) return has_gradient() ? input : Bytes{0};
  Bytes sum;
  for (const Op& op : dag.ops) sum += op.kept();
  for (const RecomputeRegion& region : regions) {
    if (recompute.repeats(region.module)) sum -= region.dropped;
  }
  return sum;
}

Bytes Block::weight_copies() const {
  Bytes sum;
  for (const Op& op : dag.ops) sum += op.weight_copies;
  return sum;
}

std::vector<const Op*> Block::recomputed(const Recomputation& recompute) const {
  if (!recomputable || recompute.kind != Recompute::full || !has_gradient()) return {};
  std::vector<const Op*> ops = order();
  if (!recompute.early_stop) return ops;
  while (!ops.empty() && ops.back()->saved <= Bytes{0}) ops.pop_back();
  if (!ops.empty() && ops.back()->saved == ops.back()->saved_input) ops.pop_back();
  return ops;
}

ForwardFlops Block::forward_flops() const {
  ForwardFlops sum;
  for (const Op& op : dag.ops) (op.core_attention ? sum.attention : sum.products) += op.flops;
  return sum;
}

std::vector<const RecomputeRegion*> Block::repeated_regions(const Recomputation& recompute) const {
  std::vector<const RecomputeRegion*> repeated;
  for (const RecomputeRegion& region : regions) {
    if (recompute.repeats(region.module) && dag.ops[region.before].has_gradient)
      repeated.push_back(&region);
  }
  return repeated;
}

ForwardFlops Block::repeated(const Recomputation& recompute) const {
  ForwardFlops sum;
  for (const Op* op : recomputed(recompute))
    (op->core_attention ? sum.attention : sum.products) += op->flops;
  for (const RecomputeRegion* region : repeated_regions(recompute)) {
    sum.products += region->flops.products;
    sum.attention += region->flops.attention;
  }
  return sum;
}

double Block::quantised() const {
  double sum = 0;
  for (const Op& op : dag.ops) sum += op.quantised;
  return sum;
}

Bytes Block::kept_for_weights() const {
  Bytes sum;
  for (const Op& op : dag.ops) sum += op.kept_for_weights;
  return sum;
}

OpGraph graph_of_first(const OpGraph& others) {
  OpGraph first = others;
  std::swap(first.chain, first.first_chain);
  first.of_first = true;
  return first;
}

OpGraph build(const Scenario& scenario) {
  OpGraph graph;
  const Style style = style_of(scenario.training);
  const Pass pass = pass_of(scenario, style);
  std::visit([&](const auto& shape) { build_blocks(graph, scenario, pass, shape); },
             scenario.model.shape);
  if (scenario.training.element() == 2)
    graph.blocks = loading_scalars(std::move(graph.blocks), style.scalar_loads);
  graph.total_parameters = parameter_count(scenario.model);
  add_totals(graph, scenario);
  return graph;
}

}  // namespace stepsim
