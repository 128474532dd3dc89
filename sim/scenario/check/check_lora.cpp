// The sentences about low-rank adapters.

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/expert_mesh.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

bool is_decoder(const Transformer& t) {
  return t.encoder_layers == 0 && t.has_words() && !t.masked;
}

/// Whether the model can have such a layer. Where attention is latent linear_qkv may stand among the
/// usual targets, and no layer is one.
bool has_layer(const Transformer& t, LoraTarget target) {
  const bool narrows = t.mla && t.mla->query_rank > 0;
  switch (target) {
    case LoraTarget::in_proj:
    case LoraTarget::out_proj:
      return t.hybrid && (t.hybrid->has('M') || t.hybrid->has('G'));
    case LoraTarget::linear_q_proj:
      return t.mla && !narrows;
    case LoraTarget::linear_q_down_proj:
    case LoraTarget::linear_q_up_proj:
      return narrows;
    case LoraTarget::linear_kv_down_proj:
    case LoraTarget::linear_kv_up_proj:
      return t.mla.has_value();
    case LoraTarget::linear_q:
    case LoraTarget::linear_k:
    case LoraTarget::linear_v:
      return !t.mla;
    case LoraTarget::linear_qkv:
    case LoraTarget::linear_proj:
    case LoraTarget::linear_fc1:
    case LoraTarget::linear_fc2:
      break;
  }
  return true;
}

bool is_whole_on_each_rank(LoraTarget target) {
  return target == LoraTarget::linear_q_down_proj || target == LoraTarget::linear_kv_down_proj;
}

bool is_single(LoraTarget target) {
  return target == LoraTarget::linear_q || target == LoraTarget::linear_k ||
         target == LoraTarget::linear_v;
}

bool is_split_by_rows(LoraTarget target) {
  return target == LoraTarget::linear_proj || target == LoraTarget::linear_fc2 ||
         target == LoraTarget::out_proj;
}

class LoraRules {
 public:
  LoraRules(const Scenario& scenario, const KeyReports& keys)
      : s_(scenario), keys_(keys), lora_(*scenario.training.lora) {}

  void check() {
    const auto* transformer = std::get_if<Transformer>(&s_.model.shape);
    if (transformer == nullptr || !is_decoder(*transformer)) {
      keys_.report({"training.lora"}, "lora is for decoders, but '{}' is none", s_.model.name);
      return;
    }
    check_targets();
    check_layers(*transformer);
    check_split();
    check_model(*transformer);
    if (transformer->experts) check_experts();
    check_passes();
  }

 private:
  void check_targets() {
    if (lora_.target_modules.empty())
      keys_.report({"training.lora.target_modules", "leave the key out for all of them"},
                   "without target_modules nothing is trained");
    for (const LoraTarget target : lora_.target_modules) {
      if (std::ranges::count(lora_.target_modules, target) > 1)
        return keys_.report({"training.lora.target_modules"}, "{} is named more than once",
                            name_of(target));
      if (!is_single(target)) continue;
      if (s_.training.fused_qkv)
        return keys_.report(
            {"training.lora.target_modules", "name linear_qkv, or state fused_qkv: false"},
            "{} is a part of linear_qkv, for fused_qkv is true", name_of(target));
      if (lora_.targets(LoraTarget::linear_qkv))
        return keys_.report({"training.lora.target_modules", "name one of the two"},
                            "linear_qkv has {}, too", name_of(target));
    }
  }

  void check_layers(const Transformer& model) {
    for (const LoraTarget target : lora_.target_modules) {
      if (!has_layer(model, target))
        keys_.report({"training.lora.target_modules"}, "'{}' has no layer {}", s_.model.name,
                     name_of(target));
      else if (is_whole_on_each_rank(target) && s_.parallelism.tensor > 1)
        keys_.report({"training.lora.target_modules", "leave it out, or state tensor: 1"},
                     "adapters of {}, which all {} tensor ranks have whole, are not modelled",
                     name_of(target), s_.parallelism.tensor);
    }
  }

  void check_split() {
    const int ranks = s_.parallelism.tensor;
    const bool is_dtensor = s_.parallelism.dtensor;
    const bool gathers = is_dtensor || !std::ranges::all_of(lora_.target_modules, is_split_by_rows);
    if (gathers && lora_.rank % ranks != 0)
      keys_.report({"training.lora.rank"},
                   "tensor {} does not divide rank {}, which tensor ranks share out", ranks,
                   lora_.rank);
    if (ranks > 1 && !s_.training.fused_qkv && !is_dtensor)
      keys_.report({"training.lora", "state fused_qkv: true"},
                   "adapters with tensor {} and fused_qkv false are not modelled", ranks);
    const bool exchanges = std::ranges::any_of(lora_.target_modules, is_split_by_rows);
    if (lora_.all_to_all && !exchanges)
      keys_.report(
          {"training.lora.all_to_all", "leave it out"},
          "all_to_all is of adapters beside linear_proj and linear_fc2, of which there are none");
    if (s_.parallelism.dtensor && lora_.all_to_all)
      keys_.report({"training.lora.all_to_all", "leave it out"},
                   "all_to_all is Megatron-Bridge's, not DTensor's");
  }

  void check_model(const Transformer& model) {
    const bool shares = model.tied_embeddings || model.mtp_layers > 0;
    if (shares && s_.parallelism.pipeline.stages > 1)
      keys_.report({"training.lora"},
                   "'{}' shares the word embedding of its ends, but {} pipeline stages "
                   "that hold a frozen copy each are not modelled",
                   s_.model.name, s_.parallelism.pipeline.stages);
  }

  void check_experts() {
    if (!keys_.sound({"parallelism.expert", "parallelism.data"}) || !splits(s_, keys_)) return;
    const ExpertParallel& e = s_.parallelism.expert;
    const bool own = expert_mesh(s_).is_own();
    const bool beside =
        lora_.targets(LoraTarget::linear_fc1) || lora_.targets(LoraTarget::linear_fc2);
    if (beside && expert_mesh(s_).tensor > 1)
      keys_.report({"training.lora.target_modules", "state parallelism.expert.tensor: 1"},
                   "adapters of experts that {} ranks share are not modelled",
                   expert_mesh(s_).tensor);
    if (e.overlap_shared)
      keys_.report({"parallelism.expert.overlap_shared", "leave it out"},
                   "overlap_shared with adapters is not modelled");
    if (own && s_.parallelism.data.sharding.shards_parameters)
      keys_.report({"training.lora", "state expert degree 1, or sharding zero1 or zero2"},
                   "adapters beside experts that are dealt to ranks and sharded are not modelled");
  }

  void check_passes() {
    if (s_.training.scan_layers)
      keys_.report({"training.lora"}, "adapters with scan_layers are not modelled");
    const Recomputation& recompute = s_.training.recompute;
    if (recompute.kind != Recompute::selective) return;
    for (const RecomputeModule module : recompute.modules) {
      if (module == RecomputeModule::core_attention || module == RecomputeModule::layernorm)
        continue;
      keys_.report({"training.lora", "use core_attention, layernorm or \"recompute: full\""},
                   "recompute of {} is not modelled with adapters", name_of(module));
    }
  }

  const Scenario& s_;
  const KeyReports& keys_;
  const Lora& lora_;
};

}  // namespace

void check_lora(const Scenario& s, const KeyReports& keys) {
  if (!s.training.lora ||
      !keys.sound({"training.lora", "training.recompute", "training.fused_qkv", "model",
                   "parallelism.tensor", "parallelism.sequence", "parallelism.pipeline"}))
    return;
  LoraRules(s, keys).check();
}

}  // namespace stepsim
