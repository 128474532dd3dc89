// The sentences about recompute.

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {

bool has_seven_matmuls(const Scenario& s, const Transformer& t) {
  return !s.training.fused_qkv && is_fused_attention(s.training.attention) && t.gated_mlp &&
         !t.experts && !t.mla && t.encoder_layers == 0;
}

bool has_module(const Transformer& t, RecomputeModule module) {
  switch (module) {
    case RecomputeModule::every_second_matmul:
    case RecomputeModule::layernorm:
      return true;
    case RecomputeModule::core_attention:
    case RecomputeModule::attention:
      return !t.hybrid || t.hybrid->has('*');
    case RecomputeModule::mla_up_proj:
      return t.mla.has_value();
    case RecomputeModule::mlp:
    case RecomputeModule::mlp_up:
      if (t.hybrid) return t.hybrid->has('-');
      return !t.experts || t.experts->dense_layers > 0;
    case RecomputeModule::moe:
    case RecomputeModule::moe_act:
      return t.experts.has_value();
    case RecomputeModule::shared_experts:
      return t.experts && t.experts->shared_ffn > 0;
  }
  return false;
}

namespace {

class RecomputeRules {
 public:
  RecomputeRules(const Scenario& scenario, const KnownNames& known, const KeyReports& keys)
      : s_(scenario), known_(known), keys_(keys), r_(scenario.training.recompute) {}

  void check() const {
    check_kind();
    if (r_.kind == Recompute::selective) check_modules();
    if (r_.kind == Recompute::full) check_layers();
  }

 private:
  /// Keys that say nothing with that kind.
  void check_kind() const {
    const Recomputation preset;
    if (r_.kind != Recompute::selective && r_.modules != preset.modules) {
      keys_.report({"training.recompute.modules", "state \"kind: selective\""},
                   "modules are for selective recompute, but kind is {}", name_of(r_.kind));
    }
    if (r_.kind == Recompute::full) return;
    if (r_.method != preset.method || r_.layers != preset.layers) {
      keys_.report(
          {r_.method != preset.method ? "training.recompute.method" : "training.recompute.layers",
           "state \"kind: full\""},
          "method and layers are for full recompute, but kind is {}", name_of(r_.kind));
    }
    if (r_.early_stop) {
      keys_.report({"training.recompute.early_stop", "state \"kind: full\""},
                   "early_stop is for full recompute, but kind is {}", name_of(r_.kind));
    }
  }

  void check_every_second(const Transformer& t) const {
    if (r_.modules.size() > 1)
      keys_.report({"training.recompute.modules", "state it alone"},
                   "every_second_matmul has all that the other modules have");
    if (!has_seven_matmuls(s_, t))
      keys_.report(
          {"training.recompute.modules",
           "state a gated model without experts, \"fused_qkv: false\" and a kernel of attention"},
          "every_second_matmul is for layers of seven products and a fused attention: queries, "
          "keys, values, projection, gate, up and down");
  }

  void check_modules() const {
    const auto* t = std::get_if<Transformer>(&s_.model.shape);
    if (t == nullptr) return;  // said by the model's own check
    if (r_.modules.empty())
      keys_.report({"training.recompute.modules", "state modules, or \"kind: none\""},
                   "selective recompute without modules computes nothing again");
    for (const RecomputeModule module : r_.modules) {
      if (module == RecomputeModule::every_second_matmul) check_every_second(*t);
      if (has_module(*t, module)) continue;
      keys_.report({"training.recompute.modules"}, "'{}' has no {}", s_.model.name,
                   name_of(module));
    }
    using enum RecomputeModule;
    for (const auto& [whole, part] : {std::pair{moe, moe_act},
                                      {moe, shared_experts},
                                      {attention, core_attention},
                                      {mlp, mlp_up}}) {
      if (r_.repeats(whole) && r_.repeats(part))
        keys_.report({"training.recompute.modules", "state one of the two"},
                     "{} and {}: the second is part of the first", name_of(whole), name_of(part));
    }
  }

  void check_layers() const {
    if (r_.early_stop && r_.method == RecomputeMethod::uniform && r_.layers > 1) {
      keys_.report({"training.recompute.early_stop", "use groups of one layer"},
                   "early_stop in groups of {} layers is not modelled", r_.layers);
    }
    const bool in_groups = r_.method == RecomputeMethod::uniform && r_.layers > 1;
    if (in_groups && s_.training.scan_layers && s_.parallelism.data.sharding.shards_parameters) {
      keys_.report({"training.recompute.layers", "use \"recompute: full\", or \"method: block\""},
                   "{} gathers within the iterations of scan_layers: recompute in groups is not "
                   "modelled with it",
                   s_.parallelism.data.sharding.name);
    }
    if (!keys_.sound({"parallelism.pipeline"})) return;
    const Pipeline& pipeline = s_.parallelism.pipeline;
    const std::int64_t parts = std::int64_t{pipeline.stages} * parts_per_stage(s_, known_);
    if (pipeline.layers.empty() && layers_of(s_.model) % parts == 0)
      check_part(layers_of(s_.model) / parts);
    for (const std::int64_t of_part : pipeline.layers) {
      if (!check_part(of_part)) return;
    }
  }

  /// Whether the layers fit those of one part of the model.
  bool check_part(std::int64_t of_part) const {
    const bool is_block = r_.method == RecomputeMethod::block;
    if (is_block ? r_.layers <= of_part : of_part % r_.layers == 0) return true;
    if (is_block) {
      keys_.report({"training.recompute.layers"},
                   "layers {} are more than the {} of a stage's chunk", r_.layers, of_part);
    } else {
      keys_.report({"training.recompute.layers"},
                   "groups of {} layers do not divide the {} of a stage's chunk", r_.layers,
                   of_part);
    }
    return false;
  }

  const Scenario& s_;
  const KnownNames& known_;
  const KeyReports& keys_;
  const Recomputation& r_;
};

/// What models without attention, or without activations to speak of, cannot compute again.
void check_kind_of_model(const Scenario& s, const KeyReports& keys) {
  const Recompute kind = s.training.recompute.kind;
  if (std::holds_alternative<Transformer>(s.model.shape)) return;
  if (kind == Recompute::selective) {
    keys.report({"training.recompute", "use none or full"},
                "selective recompute is about attention, which {} has not",
                title_without_tokens(s.model));
  }
  if (kind == Recompute::full && std::holds_alternative<Dlrm>(s.model.shape)) {
    keys.report({"training.recompute"},
                "a DLRM is not recomputed: its memory is in its tables, not in activations");
  }
}

}  // namespace

namespace {

void check_offload(const Scenario& s, const KeyReports& keys) {
  if (!s.training.offload || !keys.sound({"training.offload"})) return;
  const Recomputation& recompute = s.training.recompute;
  if (!std::holds_alternative<Transformer>(s.model.shape)) {
    keys.report({"training.offload", "leave it out"},
                "activations that leave are those of a transformer's layers");
  } else if (recompute.kind == Recompute::full && recompute.method == RecomputeMethod::uniform &&
             recompute.layers > 1) {
    keys.report({"training.offload"},
                "layers that are recomputed in groups of {} have no activations of their own to "
                "offload",
                recompute.layers);
  }
}

}  // namespace

void check_recompute(const Scenario& s, const KnownNames& known, const KeyReports& keys) {
  if (!keys.sound({"training.recompute", "model"})) return;
  check_offload(s, keys);
  check_kind_of_model(s, keys);
  if (keys.sound({"training.recompute", "parallelism.data.sharding"}))
    RecomputeRules(s, known, keys).check();
}

}  // namespace stepsim
