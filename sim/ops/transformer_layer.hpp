// One layer of a transformer as ops: attention to its own tokens, to an encoder's, and an MLP or
// experts, each behind a norm (or before one) and beside a residual connection.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/ops/layer/layers.hpp"

namespace stepsim {

using Vertex = OpDag::Vertex;
using Vertices = std::vector<Vertex>;

/// What all layers of a stack share.
struct LayerStack {
  const Transformer& model;
  Pass pass;
  std::string kernel;                ///< of attention
  bool causal = true;                ///< of attention to its own tokens
  std::int64_t source_sequence = 0;  ///< tokens of an encoder's output; 0: none is attended to

  Op norm_of(const std::string& name, std::int64_t width, bool branches = true) const;
  /// All ops of one layer.
  OpDag layer(bool with_experts) const;

 private:
  /// Between two parts: what the next one reads, and what its residual connection takes around it.
  struct Stream {
    Vertices normed, sum;
  };
  using Body = std::function<Vertex(const Vertices&)>;

  AttentionShape attention() const;
  Op query_key_value(const AttentionShape& shape) const;
  Stream add_part(OpDag& dag, const std::string& name, bool bias, const Stream& stream,
                  const std::string& next, const Body& body) const;
  Vertex add_heads(OpDag& dag, const Vertices& inputs) const;
  Vertex add_latent_heads(OpDag& dag, const Vertices& inputs) const;
  Stream add_attention(OpDag& dag, const Stream& stream, const std::string& next) const;
  Stream add_cross_attention(OpDag& dag, const Stream& stream) const;
  Vertex add_linears(OpDag& dag, const Vertices& inputs, const std::string& name,
                     std::int64_t width, bool bias) const;
  Vertex add_experts(OpDag& dag, const Vertices& inputs) const;
  void add_mlp(OpDag& dag, const Stream& stream, bool with_experts) const;
};

}  // namespace stepsim
