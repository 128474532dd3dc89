// What backward passes of frozen weights lack.
//
// PyTorch's autograd computes no gradient of a tensor that does not require one, and runs no node
// none of whose inputs does (pytorch/pytorch torch/csrc/autograd/engine.cpp, compute_dependencies;
// tools/autograd/gen_variable_type.py, should_compute_output); Transformer Engine's modules ask the
// same (NVIDIA/TransformerEngine transformer_engine/pytorch/module/linear.py,
// ctx.requires_wgrad and ctx.requires_dgrad).
#include "sim/ops/frozen.hpp"

#include <utility>

namespace stepsim {
namespace {

bool is_for_weights(const Item& item) {
  if (std::holds_alternative<GradientReady>(item)) return true;
  if (const auto* launch = std::get_if<Launch>(&item)) return launch->for_weights;
  if (const auto* start = std::get_if<StartCollective>(&item)) return start->for_weights;
  const auto* join = std::get_if<Join>(&item);
  return join != nullptr && join->for_weights;
}

void freeze(Op& op) {
  std::erase_if(op.backward, is_for_weights);
  op.frozen = std::exchange(op.parameters, {});
  op.matrices.clear();
  op.frozen_quantised = std::exchange(op.quantised, 0);
  op.placeholders.clear();
  op.kept_for_weights = Bytes{0};
}

void drop_gradient(Op& op) {
  op.has_gradient = false;
  op.backward.clear();
  op.saved = op.saved_input = op.saved_scores = op.scratch = op.weight_copies = Bytes{0};
}

}  // namespace

bool transposes_frozen(const Scenario& scenario) {
  const Training& t = scenario.training;
  return t.lora && t.fp8_parameters && !scales_blocks(t.quantisation()) &&
         quantised_copies(t.quantisation(), scenario.cluster.gpu.architecture) > 1;
}

bool begins_without_gradient(const Training& training) {
  return training.lora && training.recompute.kind != Recompute::full;
}

std::vector<bool> behind_adapters(const OpDag& dag) {
  std::vector<bool> behind(dag.ops.size(), false);
  // Edges stand in the order of the ops that they lead to, behind those that they come from.
  for (const auto& [from, to] : dag.edges) {
    if (behind[from] || dag.ops[from].adapter) behind[to] = true;
  }
  return behind;
}

void drop_input_gradient(OpDag& dag) {
  for (Op& op : dag.ops) {
    if (op.parameters.empty()) {
      drop_gradient(op);
      continue;
    }
    std::erase_if(op.backward, [](const Item& item) { return !is_for_weights(item); });
    return;
  }
}

void train_adapters_alone(OpDag& dag, bool first) {
  const std::vector<bool> behind = behind_adapters(dag);
  for (OpDag::Vertex v = 0; v < dag.ops.size(); ++v) {
    Op& op = dag.ops[v];
    if (op.adapter) continue;
    freeze(op);
    if (first && !behind[v]) drop_gradient(op);
  }
}

}  // namespace stepsim
