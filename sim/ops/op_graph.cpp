// From a scenario to the chain of blocks, with its totals.
#include "sim/ops/op_graph.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/ops/blocks.hpp"
#include "sim/ops/flop_convention.hpp"
#include "sim/ops/frozen.hpp"
#include "sim/ops/scalar_loads.hpp"
#include "sim/scenario/expert_nodes.hpp"

namespace stepsim {
namespace {

/// Those that a token's experts are limited among: without a limit it reaches as many ranks on
/// however many nodes they are.
int limited_nodes(const Scenario& s) {
  if (!s.parallelism.expert.nodes) return 1;
  const std::optional<int> nodes = nodes_of_experts(s);
  if (!nodes) throw InternalError("a limit on nodes with unequal numbers of experts");
  return *nodes;
}

Pass pass_of(const Scenario& s) {
  Pass pass;
  pass.batch = s.training.micro_batch;
  pass.context = s.parallelism.context.degree;
  pass.context_kind = s.parallelism.context.kind;
  pass.sequence = std::max<std::int64_t>(s.sequence_length() / pass.context, 1);
  pass.expert = s.parallelism.expert.degree;
  pass.capacity = s.parallelism.expert.capacity;
  pass.imbalance = s.parallelism.expert.imbalance;
  pass.dispatcher = s.parallelism.expert.dispatcher;
  pass.expert_nodes = s.parallelism.expert.nodes;
  pass.nodes_of_experts = limited_nodes(s);
  pass.fp8_dispatch = s.parallelism.expert.fp8_dispatch && pass.expert > 1;
  pass.tensor = s.parallelism.tensor;
  pass.sequence_parallel = s.parallelism.sequence;
  pass.overlap_tensor = s.parallelism.overlap_tensor;
  pass.copies_shards = s.parallelism.dtensor && pass.sequence_parallel;
  pass.gathers_each = pass.copies_shards && s.parallelism.gather_each;
  pass.fusion = s.training.fusion;
  pass.megatron = has_megatron_layers(s);
  pass.replicas = s.replicas();
  pass.precision = storage_of(s.training.precision);
  pass.linear = s.training.precision;
  pass.fp8_scaling = s.training.fp8_scaling;
  pass.fp8_copies = fp8_copies(s.training.fp8_scaling, s.cluster.gpu.architecture);
  pass.recast_weights = s.parallelism.data.sharding.shards_parameters;
  pass.gathers_fp8 = pass.recast_weights && s.training.fp8_parameters;
  pass.gradients = s.training.gradients;
  pass.adds_gradients = !s.training.fused_accumulation &&
                        (s.micro_batches() > 1 || s.training.finds_gradients()) &&
                        !s.parallelism.data.sharding.shards_parameters;
  pass.vocabulary_multiple =
      s.training.vocabulary_multiple.value_or(s.parallelism.tensor > 1 ? 128 : 1);
  pass.composed = s.training.composed;
  pass.fp32_parts = s.training.fp32_parts;
  pass.gradient_passes = s.training.per_micro_batch;
  pass.fused_qkv = s.training.fused_qkv;
  pass.aligned_tensor_cores = s.training.cublas < kCublasOfAnyAlignment;
  pass.lookup = s.training.embedding_lookup;
  pass.loss = s.training.cross_entropy;
  pass.bias_dropout_fusion = s.training.bias_dropout_fusion;
  pass.eager_loss = s.training.eager_loss;
  pass.loss_metrics = s.training.loss_metrics;
  pass.transformer_engine = s.training.transformer_impl == TransformerImpl::transformer_engine;
  pass.keeps_placeholders = pass.transformer_engine;
  pass.gathers_parameters = s.parallelism.data.sharding.shards_parameters;
  pass.frozen = s.training.lora.has_value();
  pass.transposes_weights = transposes_frozen(s);
  return pass;
}

void build_blocks(OpGraph& graph, const Scenario& s, const Transformer& model) {
  const Pass pass = pass_of(s);
  BlockChain chain = transformer_blocks(s, model, pass);
  graph.blocks = std::move(chain.blocks);
  graph.chain = std::move(chain.chain);
  graph.boundary = pass.activation(model.hidden);
  if (model.tied_embeddings && !model.vision && !pass.frozen) {
    graph.tied_elements = graph.blocks.front().order().front()->parameters.front();
    if (s.parallelism.pipeline.stages > 1) {
      graph.tied_head = graph.blocks.size();
      graph.blocks.push_back(tied_head_block(model, pass));
    }
  }
}

void build_blocks(OpGraph& graph, const Scenario& s, const Mlp& model) {
  const Pass pass = pass_of(s);
  graph.blocks = mlp_blocks(model, pass);
  graph.chain.assign(static_cast<std::size_t>(model.layers), 0);
  graph.chain.push_back(1);
  graph.boundary = pass.activation(model.width);
}

void build_blocks(OpGraph& graph, const Scenario& s, const ResNet& model) {
  BlockChain chain = resnet_blocks(model, pass_of(s));
  graph.blocks = std::move(chain.blocks);
  graph.chain = std::move(chain.chain);
}

void build_blocks(OpGraph& graph, const Scenario& s, const Dlrm& model) {
  BlockChain chain = dlrm_blocks(model, pass_of(s), s.parallelism);
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

void add_totals(OpGraph& graph, const Scenario& s) {
  const FlopConvention& convention = flop_convention(s.run.flops, s.model);
  const double passes = static_cast<double>(s.micro_batches()) * s.parallelism.tensor;
  FlopTally tally{.tokens = static_cast<double>(s.training.global_batch *
                                                (s.sequence_length() + s.target_length())),
                  .is_frozen = s.training.lora.has_value()};
  const auto add = [&](const std::vector<std::size_t>& chain, double times) {
    for (const std::size_t index : chain) {
      const Block& block = graph.blocks[index];
      const ForwardFlops forward = block.forward_flops();
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
  graph.flop_convention = fmt::format("{}: {}{}", convention.name, convention.description,
                                      s.training.lora ? "; frozen weights: backward 1x" : "");
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
  std::vector<std::size_t> first_;      // of those that wait for an op
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

bool Block::has_gradient() const {
  return std::ranges::any_of(dag.ops, [](const Op& op) { return op.has_gradient; });
}

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
  if (recomputable && recompute.kind == Recompute::full) return input;
  Bytes sum;
  for (const Op& op : dag.ops) sum += op.saved;
  for (const RecomputeRegion& region : regions) {
    if (recompute.repeats(region.module)) sum -= region.dropped;
  }
  return sum;
}

std::vector<const Op*> Block::recomputed(const Recomputation& recompute) const {
  if (!recomputable || recompute.kind != Recompute::full) return {};
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
  std::visit([&](const auto& shape) { build_blocks(graph, scenario, shape); },
             scenario.model.shape);
  const Fusion fusion = scenario.training.fusion;
  const bool is_compiled = fusion == Fusion::compiled || fusion == Fusion::xla;
  if (scenario.training.element() == 2 && !is_compiled)
    graph.blocks = loading_scalars(std::move(graph.blocks), scenario.training.scalar_loads);
  graph.total_parameters = parameter_count(scenario.model);
  add_totals(graph, scenario);
  return graph;
}

}  // namespace stepsim
