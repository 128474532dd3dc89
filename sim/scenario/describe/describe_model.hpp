// The keys of a model (see describe.hpp for how they are used).
#pragma once

#include "sim/scenario/describe/describe_images.hpp"
#include "sim/scenario/model.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/rules.hpp"

namespace stepsim {

template <class Io>
void describe(Io& io, Experts& e) {
  io.field("count", e.count, required(between(2, 1e5)), "experts of a layer");
  io.field("top_k", e.top_k, required(between(1, 1e5)), "experts that each token goes through");
  io.field("ffn", e.ffn, required(between(1, 1e7)), "inner width of one expert");
  io.field("shared_ffn", e.shared_ffn, between(0, 1e7),
           "inner width of the shared experts together; 0: none");
  io.field("dense_layers", e.dense_layers, between(0, 1e5),
           "leading layers that keep the dense MLP of width ffn");
  io.field("groups", e.groups, between(1, 1e5),
           "equal groups of neighbouring experts, as DeepSeek's router has them");
  io.fallback(e.top_groups, e.groups, "groups");
  io.field("top_groups", e.top_groups, between(1, 1e5),
           "groups that a token's experts are chosen from: where each node has one, as many nodes "
           "are sent a token at most");
  io.field("bias", e.bias, any, "biases of the experts' linear layers and of the router");
  io.field("shared_gate", e.shared_gate, any,
           "one number a token weighs what the shared experts hand on");
  io.field("clamp", e.clamp, between(0, 1e6),
           "to which both halves of the gated activation are clamped, before one is shifted, as in "
           "GPT-OSS; fusion compiled and xla, and parallelism.expert.grouped_kernel, have that in "
           "the activation's kernel; 0: none");
}

template <class Io>
void describe(Io& io, LatentAttention& a) {
  io.field("query_rank", a.query_rank, between(0, 1e6),
           "width that queries are compressed to; 0: they are not");
  io.field("kv_rank", a.kv_rank, required(between(1, 1e6)),
           "width that keys and values are compressed to");
  io.field("nope_dim", a.nope_dim, required(between(1, 1e5)),
           "part of a head's queries and keys without positions");
  io.field("rope_dim", a.rope_dim, required(between(1, 1e5)),
           "rotary part of a head's queries and keys; the heads share the keys'");
  io.field("value_dim", a.value_dim, required(between(1, 1e5)), "width of a head's values");
}

template <class Io>
void describe(Io& io, GatedDeltaNet& d) {
  io.field("key_heads", d.key_heads, required(between(1, 1e5)), "of queries and keys");
  io.field("value_heads", d.value_heads, required(between(1, 1e5)),
           "of values, each with a state of its own");
  io.field("key_dim", d.key_dim, between(1, 1e5), "width of a head's queries and keys");
  io.field("value_dim", d.value_dim, between(1, 1e5), "width of a head's values");
  io.field("convolution", d.convolution, between(1, 100), "taps along the tokens");
  io.field("gate_rank", d.gate_rank, between(0, 1e5),
           "Kimi delta attention: width of the narrow layers behind which come a decay for each "
           "channel of the keys and the gates of the output; 0: a decay a head, and whole gates");
}

template <class Io>
void describe(Io& io, HybridLayers& h) {
  io.field("pattern", h.pattern, required(any),
           "a letter a part, as Megatron-LM's --hybrid-layer-pattern: M a mixer of Mamba-2, G a "
           "gated delta net, * attention, - an MLP, E experts");
  io.field("parts", h.parts, between(1, 16),
           "letters of a layer, which is recomputed and dealt to stages as one");
  io.field("mtp_pattern", h.mtp_pattern, any,
           "mtp_layers: the parts of each depth, as what stands behind a / in Megatron-LM's "
           "pattern; \"\": there is no depth");
  io.field("rotary", h.rotary, any, "attention has rotary positions; false: none");
  io.section("delta_net", h.delta_net, GatedDeltaNet{},
             "the gated delta nets of a pattern with G; absent: none");
  io.field("heads", h.heads, h.has('M') ? required(between(1, 1e5)) : between(0, 1e5),
           "of mixers; 0: there are none");
  io.field("head_dim", h.head_dim, between(1, 1e5), "width of a mixer's head");
  io.field("groups", h.groups, between(1, 1e5),
           "of a mixer's heads that share what is written to their states and read from them");
  io.field("state", h.state, between(1, 1e5), "numbers of a state for each one of a head's");
  io.field("convolution", h.convolution, between(1, 100), "taps along the tokens");
  io.field("chunk", h.chunk, between(1, 1e5), "tokens that kernels take at once");
}

template <class Io>
void describe(Io& io, Vision& v) {
  io.field("image", v.image, between(1, 1e5), "pixels of an edge; images are square");
  io.field("patch", v.patch, between(1, 1e5), "pixels of an edge of a patch, which is a token");
  io.field("channels", v.channels, between(1, 1024), "of a pixel");
  io.field("classes", v.classes, between(1, 1e8), "outputs");
}

template <class Io>
void describe(Io& io, MaskedHead& m) {
  io.field("predicted", m.predicted, any_fraction,
           "share of the tokens whose logits are computed; 1: all of them");
  io.field("next_sentence", m.next_sentence, any,
           "a pooler over the first token, and two classes behind it");
}

template <class Io>
void describe(Io& io, Transformer& t) {
  io.section(
      "hybrid", t.hybrid, HybridLayers{},
      "layers by a pattern of parts, some of them mixers of Mamba-2, as Nemotron-H's, or gated "
      "delta nets, as Qwen3-Next's and Kimi Linear's; absent: each has attention and an MLP");
  io.section("window", t.window, AttentionWindow{},
             "layers whose attention is narrower than the sequence; absent: none");
  io.section("tower", t.tower, VisionTower{},
             "an encoder of images, whose tokens stand among the words; absent: text alone");
  io.section("diffusion", t.diffusion, Diffusion{},
             "latents as tokens and the noise of each patch as output, instead of a vocabulary; "
             "absent: text");
  io.section("vision", t.vision, Vision{},
             "images as tokens and a classifier, instead of a vocabulary; absent: text");
  io.section("masked", t.masked, MaskedHead{},
             "BERT's head and losses; absent: the next token's logits");
  io.field("layers", t.layers, required(between(1, 1e5)), "layers; of the decoder where both are");
  io.field("encoder_layers", t.encoder_layers, between(0, 1e5),
           "of an encoder that the decoder attends to; 0: none");
  io.field(
      "mtp_layers", t.mtp_layers, between(0, 100),
      "depths of multi-token prediction, as DeepSeek-V3 is trained: each has a layer of its own "
      "behind the others, and uses embedding and head once more; 0: none");
  io.field("hidden", t.hidden, required(between(1, 1e6)), "width of the residual stream");
  io.field("heads", t.heads, required(between(1, 1e5)), "attention heads");
  io.fallback(t.kv_heads, t.heads, "heads");
  io.field("kv_heads", t.kv_heads, between(1, 1e5),
           "heads of keys and values; fewer than heads: grouped-query attention");
  io.fallback(t.head_dim, t.heads > 0 ? t.hidden / t.heads : 0, "hidden / heads");
  io.field("head_dim", t.head_dim, between(1, 1e5), "width of a head");
  io.fallback(t.ffn, 4 * t.hidden, "4 * hidden");
  io.field("ffn", t.ffn, between(1, 1e7), "inner width of the MLP");
  io.field("vocabulary", t.vocabulary, t.has_words() ? required(between(1, 1e8)) : between(0, 1e8),
           "tokens that the embedding knows; none with vision or diffusion");
  io.fallback(t.positions, t.vision ? t.vision->tokens() : 0, "0; with vision: its tokens");
  io.field("positions", t.positions, between(0, 1e8),
           "rows of a learned position table; 0: none (rotary)");
  io.field("relative_positions", t.relative_positions, between(0, 1e5),
           "buckets of a learned bias on attention scores, as in T5; 0: none");
  io.field("alibi", t.alibi, any,
           "a constant bias on attention scores that grows with the distance, as in BLOOM, instead "
           "of positions");
  io.field("token_types", t.token_types, between(0, 1e5),
           "rows of a table of sentences, as in BERT; 0: none");
  io.fallback(t.causal, t.has_words() && !t.masked,
              "true; with vision, diffusion or masked: false");
  io.field("causal", t.causal, any, "tokens attend to those before them only");
  io.field("post_norm", t.post_norm, any,
           "norms behind the residual sums and the embedding, as in BERT");
  io.field("sandwich_norm", t.sandwich_norm, any,
           "norms behind attention and MLP, too, before the residual sums, as in Gemma 2 and 3");
  io.field("gated_mlp", t.gated_mlp, any, "SwiGLU: three matrices instead of two");
  io.field("rms_norm", t.rms_norm, any, "RMSNorm instead of LayerNorm");
  io.field(
      "bias", t.bias, any,
      "biases in the linear layers; experts have those of experts.bias, latent attention none");
  io.field("qkv_bias", t.qkv_bias, any, "biases of queries, keys and values where bias is false");
  io.field("qk_norm", t.qk_norm, any, "a norm over each head of queries and keys");
  io.field("wide_qk_norm", t.wide_qk_norm, any, "qk_norm: over all heads together, as in Wan 2.1");
  io.field(
      "attention_gate", t.attention_gate, any,
      "sigmoids of the layer's input, as many as queries, weigh what attention hands on, as in "
      "Qwen3-Next");
  io.field("sinks", t.sinks, any,
           "a learned score a head takes its share of the softmax, as in GPT-OSS");
  io.field("yarn_factor", t.yarn_factor, between(1, 1e6),
           "by which YaRN stretches rotary positions, as in GPT-OSS; beyond 1 fusion fused has no "
           "kernel for them, whatever training.rope_fusion says, and other styles are as with 1");
  io.field("score_cap", t.score_cap, any,
           "scores of attention are capped by a tanh, as in Gemma 2");
  io.field("logit_cap", t.logit_cap, any, "logits are capped by a tanh, as in Gemma 2");
  io.field("tied_embeddings", t.tied_embeddings, any,
           "the output head shares the embedding's weights");
  io.field("dropout", t.dropout, any, "attention and hidden dropout");
  io.section("experts", t.experts, Experts{},
             "mixture of experts instead of the MLP; absent: a dense model");
  io.section("mla", t.mla, LatentAttention{},
             "multi-head latent attention, which has head widths of its own; absent: plain heads");
}

template <class Io>
void describe(Io& io, Mlp& m) {
  io.field("layers", m.layers, required(between(1, 1e5)), "linear layers");
  io.field("width", m.width, required(between(1, 1e6)), "of every layer");
  io.field("bias", m.bias, any, "biases in the linear layers");
}

template <class Io>
void describe(Io& io, ResNet& r) {
  io.field("blocks", r.blocks, between(1, 1e4), "bottleneck blocks of each stage");
  io.field("image", r.image, between(8, 1e4), "pixels of an edge; images are square");
  io.field(
      "channels", r.channels, between(1, 1024),
      "of the image; fewer than 4 are padded in fp16 and bf16, in tf32 they stay off the tensor "
      "cores");
  io.field("classes", r.classes, between(1, 1e8), "outputs");
  io.field("groups", r.groups, between(1, 1024),
           "into which the channels of 3x3 convolutions are split, as in ResNeXt");
  io.field("group_width", r.group_width, between(1, 1024),
           "channels of a group in the first stage; each stage doubles them");
  io.field("layout", r.layout, any,
           "of images in memory; nchw is transposed around each convolution on tensor cores");
  io.field("fused_norm", r.fused_norm, any,
           "batch norm with the addition and ReLU behind it as one kernel");
  io.field("norms_in_convolutions", r.norms_in_convolutions, any,
           "fused_norm: in bottleneck blocks a convolution takes the sums of the norm behind it on "
           "its way out, and normalises what it reads on its way in; the norms before an addition "
           "are normalised as it is made, in one kernel");
}

template <class Io>
void describe(Io& io, Dlrm& d) {
  io.field("tables", d.tables, between(1, 1e11), "rows of each embedding table");
  io.field("dim", d.dim, between(1, 1e5), "width of a row");
  io.field("pooling", d.pooling, between(1, 1e5),
           "rows that a sample looks up in each table and sums, on average");
  io.field("table_precision", d.table_precision, any, "type that tables are kept in");
  io.field("fused_interaction", d.fused_interaction, any,
           "one kernel makes the products of all pairs, as in NVIDIA's DLRM");
  io.field("sparse_gradients", d.sparse_gradients, any,
           "gradients of looked up rows are written as a tensor, scaled back in fp16, and added to "
           "the rows by a kernel, as PyTorch's sparse gradients; false: one kernel updates rows");
  io.field("fused_lookup", d.fused_lookup, any,
           "the kernel that looks rows up casts them to the type of activations; false: another "
           "does, and none copies gradients that need no cast");
  io.field("dense_features", d.dense_features, between(1, 1e6), "inputs of the bottom MLP");
  io.field("bottom", d.bottom, between(1, 1e6), "widths of the bottom MLP; the last is dim");
  io.field("top", d.top, between(1, 1e6), "widths of the top MLP");
}

/// An empty model of that kind.
inline decltype(Model::shape) shape_of(ModelKind kind) {
  switch (kind) {
    case ModelKind::transformer:
      return Transformer{};
    case ModelKind::mlp:
      return Mlp{};
    case ModelKind::resnet:
      return ResNet{};
    case ModelKind::dlrm:
      return Dlrm{};
  }
  return {};
}

template <class Io>
void describe(Io& io, Model& m) {
  auto kind = static_cast<ModelKind>(m.shape.index());
  io.fallback(m.name, m.name, "the file's name");
  io.field("name", m.name, any, "of the model, in reports");
  io.field("kind", kind, any, "which of the shapes below");
  if (kind != static_cast<ModelKind>(m.shape.index())) m.shape = shape_of(kind);
  std::visit([&](auto& shape) { describe(io, shape); }, m.shape);
  io.field("published_parameters", m.published_parameters, non_negative,
           "as its authors state them; 0: nobody did");
  io.field("unpublished", m.unpublished, any, "why nobody has published a count");
  io.field("source", m.source, any, "where the dimensions come from");
  io.field("notes", m.notes, any, "what the dimensions leave out; `check` and `run` say it again");
}

}  // namespace stepsim
