// What is trained: the dimensions of a model, as one file of models/ gives them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace stepsim {

/// A dense decoder-only transformer, GPT style or Llama style.
struct Transformer {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;    ///< grouped-query attention when fewer than heads; default: heads
  std::int64_t head_dim = 0;    ///< default: hidden / heads
  std::int64_t ffn = 0;         ///< inner width of the MLP; default: 4 * hidden
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;   ///< rows of a learned position table; 0: none (rotary)
  bool gated_mlp = false;       ///< SwiGLU: three matrices instead of two
  bool rms_norm = false;        ///< RMSNorm (no bias) instead of LayerNorm
  bool bias = true;             ///< biases in the linear layers
  bool tied_embeddings = true;  ///< the output head shares the embedding's weights
  bool dropout = true;          ///< attention and hidden dropout
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
