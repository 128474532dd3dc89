// Patterns, shares and frequencies of layers as one pattern (NVIDIA/Megatron-LM
// megatron/training/arguments.py and
// megatron/core/models/gpt/experimental_attention_variant_module_specs.py).
#include "sim/import/megatron/megatron_hybrid.hpp"

#include <fmt/format.h>

#include "sim/import/megatron/hybrid_pattern.hpp"
#include "sim/import/megatron/layer_pattern.hpp"

namespace stepsim {
namespace {

constexpr const char* kPatterns[] = {"hybrid-layer-pattern", "hybrid-override-pattern"};
constexpr const char* kVariant = "experimental-attention-variant";
constexpr const char* kLinear = "linear-attention-freq";
constexpr const char* kDepths = "mtp-num-layers";
constexpr const char* kDepthPattern = "mtp-hybrid-override-pattern";

/// An expression of lists that is none is no number, either.
void refuse_no_frequency(MegatronOptions& o, const char* name, const std::string& text) {
  if (text.find_first_of("[]()*+,") == std::string::npos) return;
  o.refuse(name, fmt::format("--{} {} is no list of 0 and 1, one for each layer", name, text),
           "e.g. \"([1]*3+[0]*1)*12\", or a number N: the last of N layers differs");
}

/// Which layers have linear attention: all but every so many, or as a list says.
std::vector<int> linear_layers(MegatronOptions& o, std::int64_t layers) {
  if (!o.has(kLinear))
    o.refuse(kVariant, fmt::format("{}: which layers have it is not stated: add "
                                   "--linear-attention-freq N, of which the last has attention",
                                   o.shown(kVariant)));
  const std::string text = o.text(kLinear);
  if (const auto listed = layer_pattern(text)) {
    if (static_cast<std::int64_t>(listed->size()) == layers) return *listed;
    o.refuse(kLinear, fmt::format("--linear-attention-freq {} is of {} layers, but there are {}",
                                  text, listed->size(), layers));
  }
  refuse_no_frequency(o, kLinear, text);
  const std::int64_t every = o.positive(kLinear, 1);
  std::vector<int> linear;
  for (std::int64_t layer = 1; layer <= layers; ++layer) linear.push_back(layer % every != 0);
  return linear;
}

/// Layers with experts: the first of every so many, or as a list says.
std::vector<int> expert_layers(MegatronOptions& o, std::int64_t layers) {
  const auto count = static_cast<std::size_t>(layers);
  if (!has_megatron_experts(o)) return std::vector<int>(count, 0);
  const std::string text = o.text("moe-layer-freq", "1");
  if (const auto listed = layer_pattern(text)) {
    if (listed->size() == count) return *listed;
    o.refuse("moe-layer-freq", fmt::format("--moe-layer-freq {} is of {} layers, but there are {}",
                                           text, listed->size(), layers));
  }
  refuse_no_frequency(o, "moe-layer-freq", text);
  const std::int64_t every = o.positive("moe-layer-freq", 1);
  std::vector<int> experts;
  for (std::int64_t layer = 0; layer < layers; ++layer) experts.push_back(layer % every == 0);
  return experts;
}

/// A GPT some of whose layers have a gated delta net in place of attention.
MegatronPattern delta_nets(MegatronOptions& o) {
  const std::string variant = o.text(kVariant);
  if (variant != "gated_delta_net" && variant != "gdn")
    o.refuse(kVariant, fmt::format("{}: such a model cannot be imported", o.shown(kVariant)));
  const std::int64_t layers = o.required("num-layers");
  const std::vector<int> linear = linear_layers(o, layers), experts = expert_layers(o, layers);
  MegatronPattern pattern{.letters = "", .parts = 2, .mtp = "", .depths = 0};
  for (std::size_t i = 0; i < linear.size(); ++i) {
    pattern.letters += linear[i] != 0 ? 'G' : '*';
    pattern.letters += experts[i] != 0 ? 'E' : '-';
  }
  // A depth is like the last layer (megatron/core/models/gpt/gpt_layer_specs.py,
  // get_gpt_mtp_block_spec).
  pattern.depths = o.integer(kDepths, 0);
  if (pattern.depths > 0) pattern.mtp = pattern.letters.substr(pattern.letters.size() - 2);
  return pattern;
}

/// Layers by a pattern, and depths by what stands behind "/" or by an option of their own, as before
/// 2026.
MegatronPattern by_letters(MegatronOptions& o, const char* name) {
  const std::string text = o.text(name);
  const auto layers = layers_of_pattern(text);
  if (!layers)
    o.refuse(name,
             fmt::format("{}: a layer of another kind than M, G, *, - and E cannot be imported",
                         o.shown(name)));
  std::int64_t count = o.integer(kDepths, 0);
  const std::string own = o.text(kDepthPattern);
  std::string all = text;
  if (!own.empty() && text.find('/') == std::string::npos) {
    for (std::int64_t i = 0; i < count; ++i) all += "/" + own;
  }
  const auto depths = depths_of_pattern(all);
  if (!depths)
    o.refuse(name, fmt::format("{}: depths of multi-token prediction that differ, or of another "
                               "kind than M, G, *, - and E, cannot be imported",
                               o.shown(name)));
  if (count > 0 && depths->count == 0)
    o.refuse(kDepths, fmt::format("{}: the pattern of layers has no depth of multi-token "
                                  "prediction, as {}/*E has one",
                                  o.shown(kDepths), text));
  return {.letters = *layers, .parts = 1, .mtp = depths->letters, .depths = depths->count};
}

std::string delta_net_of(MegatronOptions& o) {
  return fmt::format(
      "delta_net: {{key_heads: {}, value_heads: {}, key_dim: {}, value_dim: {}, convolution: {}}}",
      o.positive("linear-num-key-heads", 16), o.positive("linear-num-value-heads", 32),
      o.positive("linear-key-head-dim", 128), o.positive("linear-value-head-dim", 128),
      o.positive("linear-conv-kernel-dim", 4));
}

std::string mixers_of(MegatronOptions& o) {
  const std::int64_t head = o.positive("mamba-head-dim", 64);
  const std::int64_t heads = o.positive("mamba-num-heads", 2 * o.required("hidden-size") / head);
  return fmt::format("heads: {}, head_dim: {}, groups: {}, state: {}", heads, head,
                     o.positive("mamba-num-groups", 8), o.positive("mamba-state-dim", 128));
}

}  // namespace

MegatronPattern megatron_pattern(MegatronOptions& o) {
  for (const char* name : kPatterns) {
    if (o.has(name)) return by_letters(o, name);
  }
  if (o.has(kVariant)) return delta_nets(o);
  if (!o.has("hybrid-attention-ratio") && !o.has("hybrid-mlp-ratio")) return {};
  if (o.integer(kDepths, 0) > 0)
    o.refuse(kDepths, fmt::format("{}: a hybrid's depths of multi-token prediction take a pattern "
                                  "of layers, --hybrid-layer-pattern",
                                  o.shown(kDepths)));
  return {.letters = layers_of_shares(o.required("num-layers"),
                                      o.number("hybrid-attention-ratio", 0, 0, 1),
                                      o.number("hybrid-mlp-ratio", 0, 0, 1)),
          .parts = 1,
          .mtp = "",
          .depths = 0};
}

std::int64_t megatron_layers(MegatronOptions& o) {
  const MegatronPattern pattern = megatron_pattern(o);
  o.has("num-layers");  // as many as the pattern has
  return pattern.empty() ? o.required("num-layers") : pattern.layers();
}

void write_megatron_hybrid(MegatronOptions& o, const MegatronPattern& pattern, bool rotary,
                           Draft& draft, Entries& e) {
  if (o.has("num-layers") && o.integer("num-layers", 0) != pattern.layers())
    draft.note(o.shown("num-layers"),
               fmt::format("Megatron-LM passes it over beside a pattern, which has {} layers",
                           pattern.layers()));
  std::string text = fmt::format("pattern: \"{}\"", pattern.letters);
  if (pattern.parts > 1) text += fmt::format(", parts: {}", pattern.parts);
  if (pattern.depths > 0) text += fmt::format(", mtp_pattern: \"{}\"", pattern.mtp);
  if (rotary) text += ", rotary: true";
  const auto has = [&](char kind) {
    return (pattern.letters + pattern.mtp).find(kind) != std::string::npos;
  };
  if (has('M')) text += ", " + mixers_of(o);
  if (has('G')) text += ", " + delta_net_of(o);
  e.push_back(fmt::format("hybrid: {{{}}}", text));
}

}  // namespace stepsim
