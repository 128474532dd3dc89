// The sentences about models whose layers follow a pattern.
#include <algorithm>
#include <string_view>

#include "sim/scenario/check/check.hpp"

namespace stepsim {
namespace {

constexpr const char* kPattern = "model.hybrid.pattern";

std::string_view mlp_kind_of(std::string_view kinds) {
  const std::size_t at = kinds.find_first_of("-E");
  return at == std::string_view::npos ? std::string_view() : kinds.substr(at, 1);
}

/// The first kind that a layer has twice, or both of an MLP and experts; nothing where all differ.
std::string_view repeated_kind(std::string_view kinds) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string_view kind = kinds.substr(i, 1), rest = kinds.substr(i + 1);
    const bool is_mlp = kind == "-" || kind == "E";
    if (rest.find(kind) != std::string_view::npos || (is_mlp && !mlp_kind_of(rest).empty()))
      return kind;
  }
  return {};
}

/// Reports a letter that stands for nothing. Returns whether all stand for something.
bool check_kinds(std::string_view pattern, const char* key, const KeyReports& keys) {
  const std::size_t other = pattern.find_first_not_of("MG*-E");
  if (other == std::string::npos) return true;
  keys.report({key}, "'{}' is no kind of layer: M, G, *, - and E are", pattern[other]);
  return false;
}

/// Parts of a depth of multi-token prediction where there is one, each kind once.
void check_mtp_pattern(const Transformer& t, const KeyReports& keys) {
  const HybridLayers& h = *t.hybrid;
  constexpr const char* kKey = "model.hybrid.mtp_pattern";
  if (!check_kinds(h.mtp_pattern, kKey, keys)) return;
  if (t.mtp_layers > 0 && h.mtp_pattern.empty())
    return keys.report({kKey, "state the parts of a depth, \"*E\", say"},
                       "mtp_layers is {}, but which parts a depth has is not stated", t.mtp_layers);
  if (t.mtp_layers == 0 && !h.mtp_pattern.empty())
    return keys.report({kKey, "leave it out, or state model.mtp_layers"},
                       "there is no depth of multi-token prediction, for mtp_layers is 0");
  if (!repeated_kind(h.mtp_pattern).empty())
    keys.report({kKey}, "a depth of the parts {} has two of one kind, which is not modelled",
                quoted(h.mtp_pattern));
}

/// Equal parts, as many layers as the model has, and no kind of part twice in one.
void check_parts(const Transformer& t, const KeyReports& keys) {
  const HybridLayers& h = *t.hybrid;
  const std::string_view pattern = h.pattern;
  if (!check_kinds(pattern, kPattern, keys)) return;
  if (static_cast<std::int64_t>(pattern.size()) % h.parts != 0)
    return keys.report({"model.hybrid.parts"}, "{} parts do not divide the pattern's {} letters",
                       h.parts, pattern.size());
  if (h.layers() != t.layers)
    keys.report({"model.layers"}, "the pattern has {} layers, but layers is {}", h.layers(),
                t.layers);
  const auto parts = static_cast<std::size_t>(h.parts);
  for (std::size_t begin = 0; begin < pattern.size(); begin += parts) {
    const std::string_view kinds = pattern.substr(begin, parts);
    if (repeated_kind(kinds).empty()) continue;
    return keys.report({"model.hybrid.parts", "state fewer parts"},
                       "a layer of the parts {} has two of one kind, which is not modelled",
                       quoted(std::string(kinds)));
  }
}

/// What the letters stand for, and nothing else.
void check_letters(const Transformer& t, const KeyReports& keys) {
  const HybridLayers& h = *t.hybrid;
  if (h.has('E') && !t.experts) keys.report({kPattern}, "layers of experts need model.experts");
  if (t.experts && t.experts->dense_layers > 0)
    keys.report({"model.experts.dense_layers", "leave it out"},
                "the pattern says which layers have experts");
  if (!h.has('E') && t.experts)
    keys.report({kPattern}, "experts are stated, but no layer has them");
  if (h.has('G') && !h.delta_net)
    keys.report({kPattern}, "gated delta nets need model.hybrid.delta_net");
  if (!h.has('G') && h.delta_net)
    keys.report({kPattern}, "delta_net is stated, but no layer has one");
  if (!h.has('M') && h.heads > 0)
    keys.report({kPattern}, "mixers' heads are stated, but no layer has any");
}

}  // namespace

void check_hybrid(const Transformer& t, const KeyReports& keys) {
  const HybridLayers& h = *t.hybrid;
  check_parts(t, keys);
  check_mtp_pattern(t, keys);
  check_letters(t, keys);
  if (h.heads % h.groups != 0)
    keys.report({"model.hybrid.groups"}, "groups {} do not divide the mixers' {} heads", h.groups,
                h.heads);
  if (h.delta_net && h.delta_net->value_heads % h.delta_net->key_heads != 0)
    keys.report({"model.hybrid.delta_net.key_heads"}, "key_heads {} do not divide value_heads {}",
                h.delta_net->key_heads, h.delta_net->value_heads);
  if (h.delta_net && h.delta_net->gate_rank > 0 &&
      h.delta_net->value_heads != h.delta_net->key_heads)
    keys.report({"model.hybrid.delta_net.gate_rank", "leave it out, or state as many key_heads"},
                "decays of each channel are of nets with a head of keys for each of values");
  check_apart(keys, "hybrid",
              {{"encoder_layers", t.encoder_layers > 0},
               {"post_norm", t.post_norm},
               {"vision", t.vision.has_value()}},
              "not modelled");
  if (t.window && !h.has('*'))
    keys.report({"model.window", "leave it out"}, "no layer of the pattern has attention");
  if (h.rotary) {
    check_apart(keys, "hybrid.rotary",
                {{"positions", t.positions > 0}, {"alibi", t.alibi}, {"mla", t.mla.has_value()}},
                "it stands in their place");
  }
}

void check_hybrid_training(const Scenario& s, const Transformer& t, const KeyReports& keys) {
  const HybridLayers& h = *t.hybrid;
  const Parallelism& p = s.parallelism;
  if (keys.sound({"parallelism.tensor"})) {
    if (h.heads % p.tensor != 0 || (h.has('M') && h.groups % p.tensor != 0))
      keys.report({"parallelism.tensor"},
                  "tensor {} does not divide the mixers' {} heads or {} groups", p.tensor, h.heads,
                  h.groups);
    if (h.delta_net && h.delta_net->key_heads % p.tensor != 0)
      keys.report({"parallelism.tensor"}, "tensor {} does not divide the delta nets' {} key_heads",
                  p.tensor, h.delta_net->key_heads);
  }
  if (p.context.degree > 1 && keys.sound({"parallelism.context.degree"}) &&
      (h.has('M') || h.has('G')))
    keys.report({"parallelism.context.degree", "leave it out"},
                "{} over context ranks are not modelled",
                h.has('M') ? "mixers of Mamba" : "gated delta nets");
}

}  // namespace stepsim
