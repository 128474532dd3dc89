// From a scenario to the chain of blocks, with its totals.
#include "sim/ops/op_graph.hpp"

#include <algorithm>
#include <numeric>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>

#include "sim/core/error.hpp"
#include "sim/ops/blocks.hpp"

namespace stepsim {
namespace {

Pass pass_of(const Scenario& s) {
  Pass pass;
  pass.batch = s.training.micro_batch;
  pass.context = s.parallelism.context.degree;
  pass.context_kind = s.parallelism.context.kind;
  pass.sequence = std::max<std::int64_t>(s.sequence_length() / pass.context, 1);
  pass.expert = s.parallelism.expert.degree;
  pass.capacity = s.parallelism.expert.capacity;
  pass.imbalance = s.parallelism.expert.imbalance;
  pass.tensor = s.parallelism.tensor;
  pass.sequence_parallel = s.parallelism.sequence;
  pass.overlap_tensor = s.parallelism.overlap_tensor;
  pass.fusion = s.training.fusion;
  pass.replicas = s.replicas();
  pass.precision = s.training.precision;
  pass.gradients = s.training.gradients;
  pass.keeps_placeholders = s.training.transformer_impl == TransformerImpl::transformer_engine;
  pass.gathers_parameters = s.parallelism.data.sharding == Sharding::zero3;
  return pass;
}

void build_blocks(OpGraph& graph, const Scenario& s, const Transformer& model) {
  const Pass pass = pass_of(s);
  BlockChain chain = transformer_blocks(s, model, pass);
  graph.blocks = std::move(chain.blocks);
  graph.chain = std::move(chain.chain);
  graph.boundary = pass.activation(model.hidden);
  if (model.tied_embeddings && !model.vision) {
    graph.tied_elements = graph.blocks.front().order().front()->parameters.front();
    if (s.parallelism.pipeline.stages > 1) {
      graph.tied_head = graph.blocks.size();
      graph.blocks.push_back(tied_head_block(model, pass));
    }
  }
  graph.flop_convention =
      "GEMMs, logits and full (non-causal) attention, backward 2x forward, no recompute (arXiv "
      "2205.05198, appendix A)";
}

void build_blocks(OpGraph& graph, const Scenario& s, const Mlp& model) {
  const Pass pass = pass_of(s);
  graph.blocks = mlp_blocks(model, pass);
  graph.chain.assign(static_cast<std::size_t>(model.layers), 0);
  graph.chain.push_back(1);
  graph.boundary = pass.activation(model.width);
  graph.flop_convention = "GEMMs, backward 2x forward";
}

void build_blocks(OpGraph& graph, const Scenario& s, const ResNet& model) {
  BlockChain chain = resnet_blocks(model, pass_of(s));
  graph.blocks = std::move(chain.blocks);
  graph.chain = std::move(chain.chain);
  graph.flop_convention =
      "convolutions and the fully connected layer, 2 a multiply-add, backward 2x forward";
}

void build_blocks(OpGraph& graph, const Scenario& s, const Dlrm& model) {
  BlockChain chain = dlrm_blocks(model, pass_of(s), s.parallelism.embedding);
  graph.blocks = std::move(chain.blocks);
  graph.chain = std::move(chain.chain);
  graph.flop_convention = "GEMMs and dot products, backward 2x forward";
}

Flops forward_flops(const Block& block) {
  Flops sum;
  for (const Op* op : block.order()) sum += op->flops;
  return sum;
}

/// What recompute adds to one block: all of its forward pass, or its attention core.
Flops recomputed_flops(const Block& block, Recompute recompute) {
  if (!block.recomputable || recompute == Recompute::none) return Flops{0};
  if (recompute == Recompute::full) return forward_flops(block);
  Flops sum;
  for (const Op* op : block.order()) {
    if (op->core_attention) sum += op->flops;
  }
  return sum;
}

void add_totals(OpGraph& graph, const Scenario& s) {
  const double passes =
      static_cast<double>(s.micro_batches()) * s.parallelism.tensor * s.replicas();
  for (const std::size_t index : graph.chain) {
    const Block& block = graph.blocks[index];
    const Flops model = forward_flops(block) * 3.0;
    graph.model_flops += model * passes;
    graph.hardware_flops += (model + recomputed_flops(block, s.training.recompute)) * passes;
  }
}

}  // namespace

const char* name_of(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return "all_reduce";
    case CollectiveOp::all_gather:
      return "all_gather";
    case CollectiveOp::reduce_scatter:
      return "reduce_scatter";
    case CollectiveOp::all_to_all:
      return "all_to_all";
    case CollectiveOp::shift:
      return "shift";
  }
  return "";
}

const char* name_of(PassGroup group) {
  switch (group) {
    case PassGroup::tensor:
      return "tensor";
    case PassGroup::context:
      return "context";
    case PassGroup::expert:
      return "expert";
    case PassGroup::tables:
      return "tables";
  }
  return "";
}

OpDag::Vertex OpDag::add(Op op, const std::vector<Vertex>& inputs) {
  const Vertex vertex = ops.size();
  ops.push_back(std::move(op));
  for (const Vertex input : inputs) edges.emplace_back(input, vertex);
  return vertex;
}

std::vector<const Op*> Block::order() const {
  const boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(
      dag.edges.begin(), dag.edges.end(), dag.ops.size());
  std::vector<OpDag::Vertex> reversed;
  try {
    boost::topological_sort(graph, std::back_inserter(reversed));
  } catch (const boost::not_a_dag&) {
    throw InternalError("the ops of block '" + name + "' wait for each other in a circle");
  }
  std::vector<const Op*> result;
  for (auto vertex = reversed.rbegin(); vertex != reversed.rend(); ++vertex)
    result.push_back(&dag.ops[*vertex]);
  return result;
}

double Block::parameters() const {
  double sum = 0;
  for (const Op* op : order()) {
    for (const double tensor : op->parameters) sum += tensor;
  }
  return sum;
}

double Block::expert_parameters() const {
  double sum = 0;
  for (const Op* op : order()) {
    if (op->expert) sum += std::accumulate(op->parameters.begin(), op->parameters.end(), 0.0);
  }
  return sum;
}

Bytes Block::tables() const {
  Bytes sum;
  for (const Op* op : order()) sum += op->tables;
  return sum;
}

Bytes Block::saved(Recompute recompute) const {
  if (recomputable && recompute == Recompute::full) return input;
  Bytes sum;
  const bool drops_scores = recomputable && recompute == Recompute::selective;
  for (const Op* op : order()) sum += op->saved - (drops_scores ? op->saved_scores : Bytes{0});
  return sum;
}

Bytes Block::kept_for_weights() const {
  Bytes sum;
  for (const Op* op : order()) sum += op->kept_for_weights;
  return sum;
}

OpGraph build(const Scenario& scenario) {
  OpGraph graph;
  std::visit([&](const auto& shape) { build_blocks(graph, scenario, shape); },
             scenario.model.shape);
  graph.total_parameters = parameter_count(scenario.model);
  add_totals(graph, scenario);
  return graph;
}

}  // namespace stepsim
