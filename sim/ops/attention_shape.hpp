// Attention as one tensor rank has it.
#pragma once

#include <cstdint>
#include <string>

#include "sim/ops/pass.hpp"

namespace stepsim {

/// Dimensions of attention on one tensor rank.
struct AttentionShape {
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
  bool rotary = false, dropout = false;
  std::string kernel;          ///< "unfused", "eager" or a fused kernel of the GPU's profile
  std::int64_t value_dim = 0;  ///< width of a head's values; 0: head_dim
  bool causal = true;          ///< a token attends to those before it only
  bool bias = false;           ///< a learned bias on the scores, shared by all layers (T5)
  bool alibi = false;          ///< a constant one, of one slope a head (ALiBi)
  bool sinks = false;          ///< a learned score a head (GPT-OSS)
  bool yarn = false;           ///< rotary positions are YaRN's
  bool score_cap = false;      ///< a tanh before the softmax (Gemma 2)
  std::int64_t window = 0;     ///< tokens that each sees at most, or of its chunk; 0: all
  bool chunks = false;         ///< the window is a chunk
  std::int64_t keys = 0;       ///< tokens of another sequence that is attended to; 0: to its own

  std::int64_t values() const { return value_dim > 0 ? value_dim : head_dim; }
  /// How far it sees in documents; another sequence has none.
  PackedKeys packed(const Pass& pass) const {
    if (keys > 0) return {};
    return window > 0 ? pass.packed_in_windows : pass.packed;
  }
  /// Tokens that are attended to.
  std::int64_t key_tokens(const Pass& pass) const { return keys > 0 ? keys : pass.sequence; }
};

/// The scores of unfused attention on one rank, QK^T.
struct Scores {
  Scores(const Pass& pass, const AttentionShape& shape);
  double elements;
  double one;      ///< bytes
  double rows;     ///< one a query and head
  double bias;     ///< bytes of a learned bias, which all samples share
  double mask;     ///< bytes that dropout keeps
  double dropped;  ///< bytes that dropout writes
};

}  // namespace stepsim
