// What is trained: the dimensions of a model, as one file of models/ gives them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace stepsim {

/// Mixture of experts: each token goes through the `top_k` of `count` MLPs that a router picks, and
/// through a shared MLP where there is one.
struct Experts {
  std::int64_t count = 0;
  std::int64_t top_k = 0;
  std::int64_t ffn = 0;           ///< inner width of one expert
  std::int64_t shared_ffn = 0;    ///< inner width of the shared experts together; 0: none
  std::int64_t dense_layers = 0;  ///< leading layers that keep the dense MLP
  bool operator==(const Experts&) const = default;
};

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): queries, and keys with values, go
/// through a narrow layer; each head has a part without positions and shares a rotary one.
struct LatentAttention {
  std::int64_t query_rank = 0;  ///< width of the queries' narrow layer; 0: none
  std::int64_t kv_rank = 0;     ///< width of the narrow layer of keys and values
  std::int64_t nope_dim = 0;    ///< of a head's queries and keys, without positions
  std::int64_t rope_dim = 0;    ///< of a head's queries and keys, rotary
  std::int64_t value_dim = 0;
  std::int64_t key_dim() const { return nope_dim + rope_dim; }
  bool operator==(const LatentAttention&) const = default;
};

/// A decoder-only transformer: GPT style or Llama style, dense or with experts.
struct Transformer {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< grouped-query attention when fewer than heads; default: heads
  std::int64_t head_dim = 0;  ///< default: hidden / heads
  std::int64_t ffn = 0;       ///< inner width of the MLP; default: 4 * hidden
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;  ///< rows of a learned position table; 0: none (rotary)
  bool gated_mlp = false;      ///< SwiGLU: three matrices instead of two
  bool rms_norm = false;       ///< RMSNorm (no bias) instead of LayerNorm
  bool bias = true;            ///< biases in the linear layers
  bool qkv_bias = false;  ///< biases of queries, keys and values where the other layers have none
  bool qk_norm = false;   ///< a norm over each head of queries and keys
  bool tied_embeddings = true;  ///< the output head shares the embedding's weights
  bool dropout = true;          ///< attention and hidden dropout
  std::optional<Experts> experts;
  std::optional<LatentAttention> mla;  ///< instead of heads of queries, keys and values
  bool operator==(const Transformer&) const = default;
};

/// A plain stack of equal linear layers with an activation, trained on feature vectors.
struct Mlp {
  std::int64_t layers = 0;
  std::int64_t width = 0;
  bool bias = false;
  bool operator==(const Mlp&) const = default;
};

struct Model {
  std::string name;
  std::variant<Transformer, Mlp> shape;
  std::int64_t published_parameters = 0;  ///< 0: not published to the digit
  std::string source;                     ///< where the dimensions come from
  std::vector<std::string> notes;         ///< what the dimensions leave out
  bool operator==(const Model&) const = default;
};

}  // namespace stepsim
