// The sentences about low-rank adapters.
#include "sim/scenario/check/check_lora.hpp"

#include <string>

#include <fmt/format.h>

#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// Layers of queries, keys, values, a projection and one MLP, and nothing beside them.
bool is_plain_decoder(const Transformer& t) {
  return t.encoder_layers == 0 && !t.mla && !t.experts && !t.vision && !t.masked;
}

bool is_single(LoraTarget target) {
  return target == LoraTarget::linear_q || target == LoraTarget::linear_k ||
         target == LoraTarget::linear_v;
}

bool is_split_by_rows(LoraTarget target) {
  return target == LoraTarget::linear_proj || target == LoraTarget::linear_fc2;
}

class LoraObjections {
 public:
  explicit LoraObjections(const Scenario& scenario)
      : s_(scenario), lora_(*scenario.training.lora) {}

  std::vector<Objection> all() {
    const auto* transformer = std::get_if<Transformer>(&s_.model.shape);
    if (transformer == nullptr || !is_plain_decoder(*transformer)) {
      object("", fmt::format("lora is for decoders without experts and latent attention, but '{}' "
                             "is none",
                             s_.model.name));
      return std::move(found_);
    }
    check_targets();
    check_split();
    check_model(*transformer);
    check_passes();
    return std::move(found_);
  }

 private:
  void object(const std::string& key, const std::string& message,
              const std::string& proposal = "") {
    found_.push_back({"training.lora" + (key.empty() ? "" : "." + key), message, proposal});
  }

  void check_targets() {
    if (lora_.target_modules.empty())
      object("target_modules", "without target_modules nothing is trained",
             "leave the key out for all of them");
    for (const LoraTarget target : lora_.target_modules) {
      if (std::ranges::count(lora_.target_modules, target) > 1)
        return object("target_modules", fmt::format("{} is named more than once", name_of(target)));
      if (!is_single(target)) continue;
      if (s_.training.fused_qkv)
        return object(
            "target_modules",
            fmt::format("{} is a part of linear_qkv, for fused_qkv is true", name_of(target)),
            "name linear_qkv, or state fused_qkv: false");
      if (lora_.targets(LoraTarget::linear_qkv))
        return object("target_modules", fmt::format("linear_qkv has {}, too", name_of(target)),
                      "name one of the two");
    }
  }

  void check_split() {
    const int ranks = s_.parallelism.tensor;
    const bool gathers = !std::ranges::all_of(lora_.target_modules, is_split_by_rows);
    if (gathers && lora_.rank % ranks != 0)
      object("rank", fmt::format("tensor {} does not divide rank {}, which tensor ranks share out",
                                 ranks, lora_.rank));
    if (ranks > 1 && !s_.training.fused_qkv)
      object("", fmt::format("adapters with tensor {} and fused_qkv false are not modelled", ranks),
             "state fused_qkv: true");
    const bool exchanges = std::ranges::any_of(lora_.target_modules, is_split_by_rows);
    if (lora_.all_to_all && !exchanges)
      object("all_to_all",
             "all_to_all is of adapters beside linear_proj and linear_fc2, of which there are none",
             "leave it out");
    if (s_.parallelism.dtensor) object("", "adapters with parallelism.dtensor are not modelled");
  }

  void check_model(const Transformer& model) {
    if (model.tied_embeddings && s_.parallelism.pipeline.stages > 1)
      object("", fmt::format("'{}' shares the word embedding of its ends, but {} pipeline stages "
                             "that hold a frozen copy each are not modelled",
                             s_.model.name, s_.parallelism.pipeline.stages));
  }

  void check_passes() {
    if (s_.training.scan_layers) object("", "adapters with scan_layers are not modelled");
    const Recomputation& recompute = s_.training.recompute;
    if (recompute.kind != Recompute::selective) return;
    for (const RecomputeModule module : recompute.modules) {
      if (module == RecomputeModule::core_attention || module == RecomputeModule::layernorm)
        continue;
      object("", fmt::format("recompute of {} is not modelled with adapters", name_of(module)),
             "use core_attention, layernorm or \"recompute: full\"");
    }
  }

  const Scenario& s_;
  const Lora& lora_;
  std::vector<Objection> found_;
};

}  // namespace

std::vector<Objection> lora_objections(const Scenario& scenario) {
  if (!scenario.training.lora) return {};
  return LoraObjections(scenario).all();
}

}  // namespace stepsim
