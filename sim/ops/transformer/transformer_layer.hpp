// One layer of a transformer as ops: attention to its own tokens, to an encoder's, and an MLP or
// experts, each behind a norm (or before one) and beside a residual connection.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ops/layer/layers.hpp"

namespace stepsim {

using Vertex = OpDag::Vertex;
using Vertices = std::vector<Vertex>;

/// Ops from there on are of that module, unless they are of another one already.
void mark(OpDag& dag, std::size_t begin, GraphModule module);

/// What all layers of a stack share.
struct LayerStack {
  const Transformer& model;
  Pass pass;
  std::string kernel;                ///< kernel of attention
  bool causal = true;                ///< whether attention to its own tokens is causal
  std::int64_t source_sequence = 0;  ///< tokens of an encoder's output; 0: none is attended to
  const Lora* lora = nullptr;        ///< adapters, which alone are trained; none: all weights are
  bool first = false;                ///< nothing before the layer is trained
  bool narrow = false;               ///< its attention has the model's window

  Op norm_of(const std::string& name, std::int64_t width, bool branches = true) const;
  /// All ops of one layer, behind the last of those that come before it.
  OpDag layer(bool with_experts, OpDag before = {}) const;
  /// All ops of a layer of two streams of tokens, its own and `text`'s, each with weights of its
  /// own, whose attention is of both together.
  OpDag joint_layer(const LayerStack& text) const;
  /// All ops of a layer whose attention stands beside the MLP, in one product before them and one
  /// behind them.
  OpDag single_layer() const;
  /// All ops of a hybrid model's layer of these parts, letters of its pattern, behind the last of
  /// those that come before it.
  OpDag hybrid_layer(std::string_view kinds, OpDag before = {}) const;

 private:
  /// Between two parts: what the next one reads, and what its residual connection takes around it.
  struct Stream {
    Vertices normed, sum;
  };
  using Body = std::function<Vertices(const Vertices&)>;

  bool adapts(LoraTarget target) const;
  Pass pass_at(LoraTarget target) const;
  Vertices add_column(OpDag& dag, const Vertices& inputs, Op op, LoraTarget target, std::int64_t in,
                      std::int64_t out, bool saves_input = true) const;
  Vertices add_row(OpDag& dag, const Vertices& inputs, Op op, LoraTarget target, std::int64_t in,
                   bool saves_input) const;
  bool has_gradient(const OpDag& dag, const Vertices& ops) const;
  AttentionShape attention() const;
  Op query_key_value(const AttentionShape& shape) const;
  Stream add_part(OpDag& dag, const std::string& name, bool bias, const Stream& stream,
                  const std::string& next, const Body& body) const;
  Vertices add_projections(OpDag& dag, const Vertices& inputs) const;
  Vertex add_heads(OpDag& dag, const Vertices& inputs) const;
  bool modulates(const std::string& part) const;
  Vertices add_norm(OpDag& dag, const std::string& part, const Vertices& inputs) const;
  Stream add_first_norm(OpDag& dag, const std::string& part, const Vertices& inputs) const;
  Vertex add_latent_heads(OpDag& dag, const Vertices& inputs) const;
  Stream add_attention(OpDag& dag, const Stream& stream, const std::string& next) const;
  Stream add_cross_attention(OpDag& dag, const Stream& stream) const;
  Vertices add_linears(OpDag& dag, const Vertices& inputs, const std::string& name,
                       std::int64_t width, bool bias) const;
  Vertex add_expert_adapters(OpDag& dag, const ExpertShape& shape, Vertex dispatched,
                             Vertex experts) const;
  Vertex add_experts(OpDag& dag, const Vertices& inputs) const;
  Vertices add_mamba(OpDag& dag, const Vertices& inputs) const;
  Vertices add_delta_net(OpDag& dag, const Vertices& inputs) const;
  void add_mlp(OpDag& dag, const Stream& stream, bool with_experts) const;
};

/// A layer of a stack with what selective recompute drops of it; frozen weights have no gradients.
Block layer_block(const LayerStack& stack, const std::string& name, OpDag dag);

}  // namespace stepsim
