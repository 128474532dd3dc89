// Megatron-LM's options as a model; defaults are those of megatron/training/arguments.py.
#include "sim/import/megatron_model.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/import/layer_pattern.hpp"

namespace stepsim {
namespace {

using Entries = std::vector<std::string>;

/// Refuses a kind of layer, or a part of one, that no model here has.
void refuse_other_models(MegatronOptions& o) {
  for (const char* name :
       {"encoder-num-layers", "experimental-attention-variant", "hybrid-layer-pattern",
        "hybrid-override-pattern", "is-hybrid-model", "moe-latent-size"}) {
    if (o.has(name))
      throw UserError(fmt::format("{}: such a model cannot be imported", o.shown(name)));
  }
}

std::int64_t vocabulary(MegatronOptions& o) {
  if (o.has("vocab-size")) return o.positive("vocab-size", 0);
  const std::string tokenizer = o.text("tokenizer-type", "none");
  if (tokenizer == "GPT2BPETokenizer") return 50257;
  if (tokenizer == "Llama2Tokenizer") return 32000;
  throw UserError(fmt::format(
      "the vocabulary is that of tokenizer '{}', which is not known here: add --vocab-size N",
      tokenizer));
}

std::int64_t ffn(MegatronOptions& o) {
  const std::int64_t hidden = o.required("hidden-size");
  // Two thirds of 4h in multiples of 64 where the MLP is gated.
  const std::int64_t preset = o.has("swiglu") ? hidden * 4 * 2 / 3 / 64 * 64 : 4 * hidden;
  return o.positive("ffn-hidden-size", preset);
}

/// The frequency N is one layer with experts, then N - 1 without; or each layer is listed.
std::int64_t dense_layers(MegatronOptions& o, std::int64_t layers) {
  const std::string text = o.text("moe-layer-freq", "1");
  const auto pattern = layer_pattern(text);
  if (!pattern) {
    if (o.integer("moe-layer-freq", 1) == 1) return 0;
    throw UserError(fmt::format(
        "--moe-layer-freq {}: dense layers cannot stand between those with experts", text));
  }
  if (static_cast<std::int64_t>(pattern->size()) != layers)
    throw UserError(fmt::format("--moe-layer-freq {} is of {} layers, but there are {}", text,
                                pattern->size(), layers));
  const auto first = std::find(pattern->begin(), pattern->end(), 1);
  if (std::find(first, pattern->end(), 0) != pattern->end())
    throw UserError(fmt::format(
        "--moe-layer-freq {}: dense layers cannot stand between those with experts", text));
  return first - pattern->begin();
}

void add_experts(MegatronOptions& o, Draft& draft, Entries& e) {
  const std::int64_t count = o.integer("num-experts", 0);
  const std::int64_t chosen = o.positive("moe-router-topk", 2);
  if (chosen > count)
    o.refuse(o.has("moe-router-topk") ? "moe-router-topk" : "num-experts",
             fmt::format("--moe-router-topk {}{} is above --num-experts {}", chosen,
                         o.has("moe-router-topk") ? "" : ", its default,", count));
  e.push_back(
      fmt::format("experts: {{count: {}, top_k: {}, ffn: {}, shared_ffn: {}, dense_layers: {}}}",
                  count, chosen, o.positive("moe-ffn-hidden-size", ffn(o)),
                  o.integer("moe-shared-expert-intermediate-size", 0),
                  dense_layers(o, o.required("num-layers"))));
  if (!o.has("disable-bias-linear"))
    draft.note("no --disable-bias-linear", "experts have no biases");
  if (!o.has("moe-grouped-gemm") && o.integer("expert-model-parallel-size", 1) < count)
    draft.note("no --moe-grouped-gemm", "the experts of a rank run as one grouped GEMM");
}

void add_latent_attention(MegatronOptions& o, Draft& draft, Entries& e) {
  e.push_back(fmt::format(
      "mla: {{query_rank: {}, kv_rank: {}, nope_dim: {}, rope_dim: {}, value_dim: {}}}",
      o.integer("q-lora-rank", 0), o.integer("kv-lora-rank", 32), o.integer("qk-head-dim", 128),
      o.integer("qk-pos-emb-head-dim", 64), o.integer("v-head-dim", 128)));
  if (!o.has("qk-layernorm"))
    draft.note("--multi-latent-attention without --qk-layernorm",
               "what queries, keys and values are compressed to has a norm");
}

void add_heads(MegatronOptions& o, Entries& e) {
  const std::int64_t hidden = o.required("hidden-size");
  const std::int64_t heads = o.required("num-attention-heads");
  const bool grouped = o.has("group-query-attention");
  e.push_back(fmt::format("kv_heads: {}", grouped ? o.integer("num-query-groups", 1) : heads));
  e.push_back(
      fmt::format("head_dim: {}", o.integer("kv-channels", heads > 0 ? hidden / heads : 0)));
  if (o.has("add-qkv-bias")) e.emplace_back("qkv_bias: true");
  if (o.has("qk-layernorm")) e.emplace_back("qk_norm: true");
}

}  // namespace

bool has_megatron_experts(MegatronOptions& o) { return o.integer("num-experts", 0) > 0; }

void write_megatron_model(MegatronOptions& o, Draft& draft) {
  refuse_other_models(o);
  const std::string position =
      o.text("position-embedding-type",
             o.has("use-rotary-position-embeddings") ? "rope" : "learned_absolute");
  const std::int64_t positions = o.integer("max-position-embeddings", 0);
  const bool dropout = !(o.is_zero("hidden-dropout") && o.is_zero("attention-dropout"));
  Entries e{"name: megatron-lm",
            fmt::format("layers: {}", o.required("num-layers")),
            fmt::format("hidden: {}", o.required("hidden-size")),
            fmt::format("heads: {}", o.required("num-attention-heads")),
            fmt::format("ffn: {}", ffn(o)),
            fmt::format("vocabulary: {}", vocabulary(o)),
            fmt::format("positions: {}", position == "learned_absolute" ? positions : 0),
            fmt::format("gated_mlp: {}", o.has("swiglu")),
            fmt::format("rms_norm: {}", o.text("normalization", "LayerNorm") == "RMSNorm"),
            fmt::format("bias: {}", !o.has("disable-bias-linear")),
            fmt::format("tied_embeddings: {}", !o.has("untie-embeddings-and-output-weights")),
            fmt::format("dropout: {}", dropout)};
  if (o.has("multi-latent-attention")) {
    add_latent_attention(o, draft, e);
  } else {
    add_heads(o, e);
  }
  if (has_megatron_experts(o)) add_experts(o, draft, e);
  draft.map("model", e);
}

}  // namespace stepsim
