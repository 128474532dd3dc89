// The keys of a model (see describe.hpp for how they are used).
#pragma once

#include "sim/scenario/model.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/rules.hpp"

namespace stepsim {

template <class Io>
void describe(Io& io, Transformer& t) {
  io.field("layers", t.layers, required(between(1, 1e5)), "decoder layers");
  io.field("hidden", t.hidden, required(between(1, 1e6)), "width of the residual stream");
  io.field("heads", t.heads, required(between(1, 1e5)), "attention heads");
  io.fallback(t.kv_heads, t.heads, "heads");
  io.field("kv_heads", t.kv_heads, between(1, 1e5),
           "heads of keys and values; fewer than heads: grouped-query attention");
  io.fallback(t.head_dim, t.heads > 0 ? t.hidden / t.heads : 0, "hidden / heads");
  io.field("head_dim", t.head_dim, between(1, 1e5), "width of a head");
  io.fallback(t.ffn, 4 * t.hidden, "4 * hidden");
  io.field("ffn", t.ffn, between(1, 1e7), "inner width of the MLP");
  io.field("vocabulary", t.vocabulary, required(between(1, 1e8)),
           "tokens that the embedding knows");
  io.field("positions", t.positions, between(0, 1e8),
           "rows of a learned position table; 0: none (rotary)");
  io.field("gated_mlp", t.gated_mlp, any, "SwiGLU: three matrices instead of two");
  io.field("rms_norm", t.rms_norm, any, "RMSNorm instead of LayerNorm");
  io.field("bias", t.bias, any, "biases in the linear layers");
  io.field("tied_embeddings", t.tied_embeddings, any,
           "the output head shares the embedding's weights");
  io.field("dropout", t.dropout, any, "attention and hidden dropout");
}

template <class Io>
void describe(Io& io, Mlp& m) {
  io.field("layers", m.layers, required(between(1, 1e5)), "linear layers");
  io.field("width", m.width, required(between(1, 1e6)), "of every layer");
  io.field("bias", m.bias, any, "biases in the linear layers");
}

template <class Io>
void describe(Io& io, Model& m) {
  ModelKind kind = std::holds_alternative<Mlp>(m.shape) ? ModelKind::mlp : ModelKind::transformer;
  io.fallback(m.name, m.name, "the file's name");
  io.field("name", m.name, any, "of the model, in reports");
  io.field("kind", kind, any, "which of the shapes below");
  if (kind == ModelKind::mlp && !std::holds_alternative<Mlp>(m.shape)) m.shape = Mlp{};
  std::visit([&](auto& shape) { describe(io, shape); }, m.shape);
  io.field("published_parameters", m.published_parameters, non_negative,
           "as its authors state them; 0: not published to the digit");
  io.field("source", m.source, any, "where the dimensions come from");
  io.field("notes", m.notes, any, "what the dimensions leave out; `check` and `run` say it again");
}

}  // namespace stepsim
