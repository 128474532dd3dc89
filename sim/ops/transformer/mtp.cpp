// A depth of multi-token prediction (DeepSeek-AI 2024, arXiv 2412.19437, section 2.2).
//
// After NVIDIA/Megatron-LM megatron/core/transformer/multi_token_prediction.py: the embedding of
// tokens shifted by one and the hidden states have a norm each and are joined, which a linear layer
// of twice the width makes one of; tensor ranks split its outputs and gather them. The depth's head
// is the model's, used once more.
#include "sim/ops/transformer/mtp.hpp"

#include "sim/ops/layer/tensor_collective.hpp"
#include "sim/ops/transformer/transformer_heads.hpp"

namespace stepsim {
namespace {

Op projection(const Pass& pass, std::int64_t hidden) {
  Op op = column_linear(pass, "mtp projection", 2 * hidden, hidden / pass.tensor, false);
  op.output = pass.activation(hidden);
  if (pass.tensor == 1) return op;
  add_tensor_collective(op.forward, CollectiveOp::all_gather, pass.activation(hidden));
  if (!pass.sequence_parallel) return op;
  // Each rank keeps its tokens, and gathers their gradients.
  Items backward;
  add_tensor_collective(backward, CollectiveOp::all_gather, pass.activation(hidden));
  op.backward.insert(op.backward.begin(), backward.begin(), backward.end());
  return op;
}

}  // namespace

Block mtp_layer_block(const LayerStack& stack, bool owns_table) {
  const Pass& pass = stack.pass;
  const std::int64_t h = stack.model.hidden;
  OpDag dag;
  Op table = embedding(pass, stack.model);
  const Vertex token = dag.add(owns_table ? std::move(table) : share_weights(std::move(table)), {});
  const Vertex token_norm = dag.add(stack.norm_of("mtp embedding norm", h, false), {token});
  const Vertex hidden_norm = dag.add(stack.norm_of("mtp hidden norm", h), {});
  const Bytes side_by_side = 2.0 * pass.outer_activation(h);
  const Vertex both = dag.add(joined_tensors("mtp join", side_by_side), {token_norm, hidden_norm});
  dag.add(projection(pass, h), {both});
  return {.name = "mtp layer",
          .dag = stack.model.hybrid
                     ? stack.hybrid_layer(stack.model.hybrid->mtp_pattern, std::move(dag))
                     : stack.layer(stack.model.experts.has_value(), std::move(dag)),
          .input = {},
          .recomputable = true,
          .place = BlockPlace::back};
}

}  // namespace stepsim
