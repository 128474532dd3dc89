// Megatron-LM's options as a model; defaults are those of megatron/training/arguments.py.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/words.hpp"
#include "sim/import/megatron/layer_pattern.hpp"
#include "sim/import/megatron/megatron.hpp"
#include "sim/import/megatron/megatron_flags.hpp"
#include "sim/import/megatron/megatron_hybrid.hpp"
#include "sim/scenario/read/number.hpp"

namespace stepsim {
namespace {

constexpr double kDropout = 0.1;  // of both, hidden and attention

/// Models whose layers a pattern names.
constexpr const char* kHybrid = "a hybrid of Mamba and attention layers";

/// Programs of Megatron-LM (pretrain_*.py, examples/) that train something else than a GPT.
const std::map<std::string, std::string, std::less<>> kOtherPrograms = {
    {"pretrain_bert.py", "an encoder"},
    {"pretrain_hybrid.py", kHybrid},
    {"pretrain_ict.py", "two encoders"},
    {"pretrain_mamba.py", kHybrid},
    {"pretrain_retro.py", "a model that retrieves (RETRO)"},
    {"pretrain_retnet.py", "a model of retention layers (RetNet)"},
    {"pretrain_t5.py", "an encoder and a decoder"},
    {"pretrain_vision_classify.py", "a vision model"},
    {"pretrain_vision_dino.py", "a vision model"},
    {"pretrain_vision_inpaint.py", "a vision model"},
    {"pretrain_vlm.py", "a vision tower and a decoder"},
};

/// Refuses a kind of layer, or a part of one, that no model here has.
void refuse_other_models(MegatronOptions& o, const PlacedWord& program) {
  constexpr const char* only = "only GPTs of attention and MLP layers are simulated";
  const bool is_hybrid = !megatron_pattern(o).empty();
  const auto other = kOtherPrograms.find(program.text);
  if (other != kOtherPrograms.end() && !(is_hybrid && other->second == kHybrid))
    refuse_at(program.place, fmt::format("{} trains {}: it cannot be imported, {}", program.text,
                                         other->second, only));
  for (const std::string& name : o.names()) {
    const std::string_view kind = other_model_of(name);
    if (kind.empty() || (is_hybrid && kind == kHybrid)) continue;
    if (kind == "such a model")
      o.refuse(name, fmt::format("{}: such a model cannot be imported", o.shown(name)));
    o.refuse(name, fmt::format("{}: this is {}, which cannot be imported, {}", o.shown(name), kind,
                               only));
  }
  const std::vector<std::string> spec = o.list("spec");
  if (!is_hybrid && std::ranges::any_of(spec, [](const std::string& word) {
        return word.find("mamba") != std::string::npos || word.find("hybrid") != std::string::npos;
      }))
    o.refuse("spec", fmt::format("{}: such a model cannot be imported, {}", o.shown("spec"), only));
}

struct KnownVocabulary {
  std::string_view name;  ///< a part of a tokenizer's name, in small letters
  std::int64_t size;
};

/// Tokenizers by their names, with the entries that they have (`len(tokenizer)` on Hugging Face).
constexpr KnownVocabulary kTokenizers[] = {
    // llm-jp/llm-jp-tokenizer, models/ver3.0
    {"llm-jp-tokenizer-100k.ver3.0b1", 99487},
    {"bigscience/tokenizer", 250680},
    {"llama-3", 128256},
    {"llama3", 128256},
    {"llama-2", 32000},
    {"llama2", 32000},
    {"mixtral", 32000},
    {"mistral-7b", 32000},
    {"deepseek-v3", 128815},
    {"deepseek-v2", 100002},
    {"qwen3", 151669},
    {"qwen2", 151665},
    {"gpt2", 50257},
    {"gpt-neox", 50277},
    {"gemma", 256000},
};

/// slime packs the samples of a step into passes of so many tokens (THUDM/slime,
/// docs/en/get_started/quick_start.md).
void refuse_packed_samples(MegatronOptions& o) {
  if (!o.has("use-dynamic-batch-size") || (o.has("micro-batch-size") && o.has("seq-length")))
    return;
  o.refuse("max-tokens-per-gpu",
           fmt::format("samples are packed until a pass has {}: how long they are is not stated",
                       o.shown("max-tokens-per-gpu")),
           "state the mean, and how many fit: --seq-length N --micro-batch-size N");
}

/// What a tokenizer with that name has; 0 where nobody knows.
std::int64_t vocabulary_of(const std::string& type, const std::string& model) {
  for (const std::string& name : {in_lower_case(model), in_lower_case(type)}) {
    for (const KnownVocabulary& known : kTokenizers) {
      if (name.find(known.name) != std::string::npos) return known.size;
    }
  }
  return 0;
}

std::int64_t vocabulary(MegatronOptions& o, Draft& draft) {
  if (o.has("vocab-size")) return o.positive("vocab-size", 0);
  for (const char* padded : {"padded-vocab-size", "pad-vocab-size-to"}) {
    if (o.has(padded)) return o.positive(padded, 0);
  }
  // A file of merges belongs to GPT-2's kind of tokenizer, which was the preset once.
  const std::string preset = o.has("merge-file") ? "GPT2BPETokenizer" : "none";
  // Pai-Megatron-Patch has its own tokenizers, with entries for padding.
  const std::string type = o.text("tokenizer-type", o.text("patch-tokenizer-type", preset));
  // The tokenizer of Pai-Megatron-Patch is that of the checkpoint.
  const std::string checkpoint = o.has("patch-tokenizer-type") ? o.text("load") : "";
  const std::string model = o.text("tokenizer-model", o.text("tokenizer-name-or-path", checkpoint));
  const std::int64_t more = o.integer("extra-vocab-size", 0);
  std::int64_t size = vocabulary_of(type, model);
  if (size == 0)
    o.refuse(model.empty() ? "tokenizer-type" : "tokenizer-model",
             fmt::format("the vocabulary is that of tokenizer '{}', which is not known here: add "
                         "--vocab-size N",
                         model.empty() ? type : type + " " + model));
  size += more;
  draft.assume({"vocabulary", fmt::format("{}", size),
                fmt::format("not stated; the published {} has as many{}", type,
                            model.empty() ? "" : ", '" + model + "' may have others"),
                "--vocab-size N"});
  return size;
}

bool is_gated(MegatronOptions& o) {
  const bool swiglu = o.is_on("swiglu"), geglu = o.is_on("quick-geglu");
  return swiglu || geglu;
}

/// Two thirds of 4h times a factor, rounded up (FlagOpen/FlagScale, release v0.2,
/// megatron/megatron/arguments.py).
std::int64_t ffn_of_flagscale(MegatronOptions& o, std::int64_t hidden) {
  const std::int64_t multiple = o.positive("multiple-of", 256);
  const auto factor = number_if_any(o.text("hidden-dim-multiplier", "1"));
  if (!factor || factor->value <= 0 || factor->value > 1000)
    o.refuse("hidden-dim-multiplier",
             o.shown("hidden-dim-multiplier") + ": no number above 0, up to 1000");
  const std::int64_t whole = hidden * 4 * 2 / 3;  // int(4 * h * 2 / 3), before the factor
  const auto width = static_cast<std::int64_t>(static_cast<double>(whole) * factor->value);
  return (width + multiple - 1) / multiple * multiple;
}

std::int64_t ffn(MegatronOptions& o) {
  const std::int64_t hidden = o.required("hidden-size");
  if (o.has("multiple-of")) return ffn_of_flagscale(o, hidden);
  // Two thirds of 4h in multiples of 64 where the MLP is gated.
  const std::int64_t preset = is_gated(o) ? hidden * 4 * 2 / 3 / 64 * 64 : 4 * hidden;
  return o.positive("ffn-hidden-size", preset);
}

/// The frequency N is one layer with experts, then N - 1 without; or each layer is listed.
std::int64_t dense_layers(MegatronOptions& o, std::int64_t layers) {
  const std::string text = o.text("moe-layer-freq", "1");
  const auto refuse_between = [&] {
    o.refuse(
        "moe-layer-freq",
        fmt::format("--moe-layer-freq {}: dense layers cannot stand between those with experts",
                    text));
  };
  const auto pattern = layer_pattern(text);
  if (!pattern) {
    if (o.integer("moe-layer-freq", 1) == 1) return 0;
    refuse_between();
  }
  if (static_cast<std::int64_t>(pattern->size()) != layers)
    o.refuse("moe-layer-freq", fmt::format("--moe-layer-freq {} is of {} layers, but there are {}",
                                           text, pattern->size(), layers));
  const auto first = std::find(pattern->begin(), pattern->end(), 1);
  if (std::find(first, pattern->end(), 0) != pattern->end()) refuse_between();
  return first - pattern->begin();
}

/// Layers that attend to a window: all but every so many, counted from 1
/// (megatron/core/transformer/utils.py, is_layer_window_attention).
void add_window(MegatronOptions& o, Draft& draft, Entries& e) {
  if (!o.has("window-size")) return;
  std::string size;
  for (const std::string& word : o.list("window-size")) size += word + ",";
  // A pair, in brackets or not (megatron/core/transformer/transformer_config.py, window_size).
  if (size.find_first_not_of("0123456789-,() ") != std::string::npos)
    o.refuse("window-size", o.shown("window-size") + " is no pair of numbers of tokens");
  const std::size_t digits = size.find_first_of("-0123456789");
  const std::int64_t before = digits == std::string::npos ? -1 : std::atoll(&size[digits]);
  const std::string skip = o.has("window-attn-skip-freq") ? o.text("window-attn-skip-freq") : "0";
  if (before < 0) return;
  const bool is_number = skip.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || o.is_on("multi-latent-attention"))
    return draft.note(o.shown("window-size"), "attention is counted over the whole sequence");
  e.push_back(fmt::format("window: {{tokens: {}, full_every: {}}}", before + 1, skip));
}

/// The groups that a router chooses first, where it does.
std::string groups_of_experts(MegatronOptions& o) {
  const std::int64_t groups = o.integer("moe-router-num-groups", 0);
  const std::int64_t chosen = o.integer("moe-router-group-topk", 0);
  return groups > 0 && chosen > 0 ? fmt::format(", groups: {}, top_groups: {}", groups, chosen)
                                  : std::string();
}

/// The leading dense layers; in a pattern its letters say which layers have experts.
std::string layers_without_experts(MegatronOptions& o, const MegatronPattern& pattern) {
  if (!pattern.empty()) return "";
  return fmt::format(", dense_layers: {}", dense_layers(o, o.required("num-layers")));
}

/// Megatron-LM's gated activations but quick_gelu take no clamp (megatron/core/transformer/moe/
/// experts.py, bias_act_func).
std::string clamp(MegatronOptions& o, Draft& draft) {
  constexpr const char* kOption = "activation-func-clamp-value";
  const double limit = o.number(kOption, 0, 0, 1e6);
  if (limit == 0) return "";
  if (o.is_on("quick-geglu")) return fmt::format(", clamp: {}", limit);
  draft.note(o.shown(kOption) + " without --quick-geglu", "the activation clamps nothing");
  return "";
}

void add_experts(MegatronOptions& o, const MegatronPattern& pattern, Draft& draft, Entries& e) {
  const std::int64_t count = o.integer("num-experts", 0);
  const std::int64_t chosen = o.positive("moe-router-topk", 2);
  if (chosen > count)
    o.refuse(o.has("moe-router-topk") ? "moe-router-topk" : "num-experts",
             fmt::format("--moe-router-topk {}{} is above --num-experts {}", chosen,
                         o.has("moe-router-topk") ? "" : ", its default,", count));
  const std::int64_t width = o.positive("moe-ffn-hidden-size", ffn(o));
  // Pai-Megatron-Patch counts those that all tokens go to.
  const std::int64_t shared =
      o.has("enable-shared-expert") ? o.integer("num-shared-experts", 1) : 0;
  const std::int64_t shared_width =
      o.integer("moe-shared-expert-intermediate-size", shared * width);
  const bool bias = !o.is_on("disable-bias-linear"), gate = o.is_on("moe-shared-expert-gate");
  e.push_back(fmt::format("experts: {{count: {}, top_k: {}, ffn: {}, shared_ffn: {}{}{}{}{}{}}}",
                          count, chosen, width, shared_width, layers_without_experts(o, pattern),
                          groups_of_experts(o), bias ? ", bias: true" : "",
                          gate && shared_width > 0 ? ", shared_gate: true" : "", clamp(o, draft)));
  if (!o.is_on("moe-grouped-gemm") && o.integer("expert-model-parallel-size", 1) < count)
    draft.note("no --moe-grouped-gemm", "the experts of a rank run as one grouped GEMM");
}

/// Pai-Megatron-Patch has had it by its sizes alone.
bool is_latent(MegatronOptions& o) {
  return o.is_on("multi-latent-attention") || o.has("qk-nope-head-dim");
}

void add_latent_attention(MegatronOptions& o, Draft& draft, Entries& e) {
  e.push_back(
      fmt::format("mla: {{query_rank: {}, kv_rank: {}, nope_dim: {}, rope_dim: {}, value_dim: {}}}",
                  o.integer("q-lora-rank", 0), o.integer("kv-lora-rank", 32),
                  o.integer("qk-nope-head-dim", o.integer("qk-head-dim", 128)),
                  o.integer("qk-rope-head-dim", o.integer("qk-pos-emb-head-dim", 64)),
                  o.integer("v-head-dim", 128)));
  if (!o.is_on("qk-layernorm"))
    draft.note("--multi-latent-attention without --qk-layernorm",
               "what queries, keys and values are compressed to has a norm");
}

void add_heads(MegatronOptions& o, Draft& draft, Entries& e) {
  const std::int64_t hidden = o.required("hidden-size");
  const std::int64_t heads = o.required("num-attention-heads");
  const bool grouped = o.is_on("group-query-attention");
  if (o.has("num-query-groups") && !grouped)
    draft.note(o.shown("num-query-groups") + " without --group-query-attention",
               "Megatron-LM passes it over, so each head has its own keys and values");
  e.push_back(fmt::format("kv_heads: {}", grouped ? o.integer("num-query-groups", 1) : heads));
  e.push_back(
      fmt::format("head_dim: {}", o.integer("kv-channels", heads > 0 ? hidden / heads : 0)));
  if (o.is_on("add-qkv-bias")) e.emplace_back("qkv_bias: true");
  if (o.is_on("qk-layernorm")) e.emplace_back("qk_norm: true");
  if (o.is_on("attention-output-gate")) e.emplace_back("attention_gate: true");
  // Off-by-one adds a constant, which costs nothing.
  if (o.choice("softmax-type", {"vanilla", "off-by-one", "learnable"}, "vanilla") == "learnable")
    e.emplace_back("sinks: true");
}

std::string position_type(MegatronOptions& o) {
  const bool rope = o.is_on("use-rotary-position-embeddings"),
             none = o.is_on("no-position-embedding");
  // The last three are those of Megatron-DeepSpeed and its relatives (megatron/enums.py).
  return o.choice("position-embedding-type",
                  {"learned_absolute", "rope", "yarn", "mrope", "relative", "none", "rotary",
                   "absolute", "alibi"},
                  rope   ? "rope"
                  : none ? "none"
                         : "learned_absolute");
}

/// Megatron-DeepSpeed writes it in small letters (microsoft/Megatron-DeepSpeed,
/// megatron/arguments.py).
std::string norm_type(MegatronOptions& o) {
  if (!o.has("deepspeed")) return o.choice("normalization", {"LayerNorm", "RMSNorm"}, "LayerNorm");
  const std::string norm = o.choice("normalization", {"layernorm", "rmsnorm"}, "layernorm");
  return norm == "rmsnorm" ? "RMSNorm" : "LayerNorm";
}

}  // namespace

bool has_megatron_experts(MegatronOptions& o) { return o.integer("num-experts", 0) > 0; }

bool joins_rotary(MegatronOptions& o) {
  const std::string position = position_type(o);
  const bool off = o.is_on("no-rope-fusion") || position == "yarn" || position == "mrope";
  if (!is_latent(o))
    return !off || !(position.starts_with("ro") || position == "yarn" || position == "mrope");
  return !off && position == "rope" && o.text("rope-type", "yarn") == "yarn";
}

void note_megatron_spec(MegatronOptions& o, Draft& draft) {
  const std::vector<std::string> spec = o.list("spec");
  const bool is_own = std::ranges::any_of(spec, [](const std::string& word) {
    return word == "mamba_stack_spec" || word == "hybrid_stack_spec";
  });
  if (!spec.empty() && !is_own)
    draft.note(o.shown("spec"), "layers are those that the other options describe");
}

void write_megatron_model(MegatronOptions& o, const PlacedWord& program, Draft& draft) {
  refuse_other_models(o, program);
  refuse_packed_samples(o);
  const MegatronPattern hybrid = megatron_pattern(o);
  // What the training section asks for, too: one question for all. A pattern has its layers.
  const char* layers = hybrid.empty() ? "num-layers" : "hidden-size";
  o.require({layers, "hidden-size", "num-attention-heads", "seq-length", "micro-batch-size"});
  const std::string position = position_type(o);

  const std::int64_t positions = o.integer("max-position-embeddings", 0);
  const bool is_rms = o.has("apply-layernorm-rms") || norm_type(o) == "RMSNorm";
  const double hidden_dropout = o.number("hidden-dropout", kDropout, 0, 1);
  const bool dropout = hidden_dropout + o.number("attention-dropout", kDropout, 0, 1) > 0;
  Entries e{"name: megatron-lm",
            fmt::format("layers: {}", megatron_layers(o)),
            fmt::format("hidden: {}", o.required("hidden-size")),
            fmt::format("heads: {}", o.required("num-attention-heads")),
            fmt::format("ffn: {}", ffn(o)),
            fmt::format("vocabulary: {}", vocabulary(o, draft)),
            fmt::format("positions: {}", position == "learned_absolute" ? positions : 0),
            fmt::format("gated_mlp: {}", is_gated(o)),
            fmt::format("rms_norm: {}", is_rms),
            fmt::format("bias: {}", !o.is_on("disable-bias-linear")),
            fmt::format("tied_embeddings: {}", !o.is_on("untie-embeddings-and-output-weights")),
            fmt::format("dropout: {}", dropout)};
  if (is_latent(o)) {
    add_latent_attention(o, draft, e);
  } else {
    add_heads(o, draft, e);
  }
  if (has_megatron_experts(o)) {
    add_experts(o, hybrid, draft, e);
  } else if (o.has("activation-func-clamp-value")) {
    draft.note(o.shown("activation-func-clamp-value"), "only clamps of experts are simulated");
  }
  // Read beside yarn since core_v0.19.0 (megatron/training/argument_utils.py).
  const double factor = o.number("rotary-scaling-factor", 1, 1, 1e6);
  if (position == "yarn" && !is_latent(o)) e.push_back(fmt::format("yarn_factor: {}", factor));
  const bool is_rotary = position.starts_with("ro") || position == "yarn" || position == "mrope";
  if (!hybrid.empty()) write_megatron_hybrid(o, hybrid, is_rotary, draft, e);
  add_window(o, draft, e);
  const std::int64_t depths = hybrid.empty() ? o.integer("mtp-num-layers", 0) : hybrid.depths;
  if (depths > 0) e.push_back(fmt::format("mtp_layers: {}", depths));
  draft.map("model", e);
}

}  // namespace stepsim
