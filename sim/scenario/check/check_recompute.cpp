// The sentences about recompute.
#include "sim/scenario/check/check_recompute.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

const std::string kKey = "training.recompute";

/// Seven products: queries, keys, values, the projection behind attention, gate, up and down.
bool has_seven_matmuls(const Scenario& s, const Transformer& t) {
  return !s.training.fused_qkv && is_fused_attention(s.training.attention) && t.gated_mlp &&
         !t.experts && !t.mla && t.encoder_layers == 0;
}

/// Whether some layer of the model has that module.
bool has_module(const Transformer& t, RecomputeModule module) {
  switch (module) {
    case RecomputeModule::every_second_matmul:
    case RecomputeModule::core_attention:
    case RecomputeModule::attention:
    case RecomputeModule::layernorm:
      return true;
    case RecomputeModule::mla_up_proj:
      return t.mla.has_value();
    case RecomputeModule::mlp:
    case RecomputeModule::mlp_up:
      return !t.experts || t.experts->dense_layers > 0;
    case RecomputeModule::moe:
    case RecomputeModule::moe_act:
      return t.experts.has_value();
    case RecomputeModule::shared_experts:
      return t.experts && t.experts->shared_ffn > 0;
  }
  return false;
}

class Objections {
 public:
  explicit Objections(const Scenario& scenario) : s_(scenario), r_(scenario.training.recompute) {}

  std::vector<Objection> all(const std::vector<std::int64_t>& layers) {
    check_kind();
    if (r_.kind == Recompute::selective) check_modules();
    if (r_.kind == Recompute::full) check_layers(layers);
    return std::move(found_);
  }

 private:
  void object(const std::string& key, const std::string& message, const std::string& proposal) {
    found_.push_back({kKey + "." + key, message, proposal});
  }

  /// Keys that say nothing with that kind.
  void check_kind() {
    const Recomputation preset;
    if (r_.kind != Recompute::selective && r_.modules != preset.modules) {
      object("modules",
             fmt::format("modules are for selective recompute, but kind is {}", name_of(r_.kind)),
             "state \"kind: selective\"");
    }
    if (r_.kind == Recompute::full) return;
    if (r_.method != preset.method || r_.layers != preset.layers) {
      object(
          r_.method != preset.method ? "method" : "layers",
          fmt::format("method and layers are for full recompute, but kind is {}", name_of(r_.kind)),
          "state \"kind: full\"");
    }
    if (r_.early_stop) {
      object("early_stop",
             fmt::format("early_stop is for full recompute, but kind is {}", name_of(r_.kind)),
             "state \"kind: full\"");
    }
  }

  void check_every_second(const Transformer& t) {
    if (r_.modules.size() > 1)
      object("modules", "every_second_matmul has all that the other modules have",
             "state it alone");
    if (!has_seven_matmuls(s_, t))
      object("modules",
             "every_second_matmul is for layers of seven products and a fused attention: queries, "
             "keys, values, projection, gate, up and down",
             "state a gated model without experts, \"fused_qkv: false\" and a kernel of attention");
  }

  void check_modules() {
    const auto* t = std::get_if<Transformer>(&s_.model.shape);
    if (t == nullptr) return;  // said by the model's own check
    if (r_.modules.empty())
      object("modules", "selective recompute without modules computes nothing again",
             "state modules, or \"kind: none\"");
    for (const RecomputeModule module : r_.modules) {
      if (module == RecomputeModule::every_second_matmul) check_every_second(*t);
      if (has_module(*t, module)) continue;
      object("modules", fmt::format("'{}' has no {}", s_.model.name, name_of(module)), "");
    }
    using enum RecomputeModule;
    for (const auto& [whole, part] : {std::pair{moe, moe_act},
                                      {moe, shared_experts},
                                      {attention, core_attention},
                                      {mlp, mlp_up}}) {
      if (r_.repeats(whole) && r_.repeats(part))
        object("modules",
               fmt::format("{} and {}: the second is part of the first", name_of(whole),
                           name_of(part)),
               "state one of the two");
    }
  }

  void check_layers(const std::vector<std::int64_t>& layers) {
    if (r_.early_stop && r_.method == RecomputeMethod::uniform && r_.layers > 1) {
      object("early_stop",
             fmt::format("early_stop in groups of {} layers is not modelled", r_.layers),
             "use groups of one layer");
    }
    const bool each_alone = r_.method == RecomputeMethod::uniform && r_.layers == 1;
    if (!each_alone && s_.parallelism.data.sharding.shards_parameters) {
      object(
          r_.layers > 1 ? "layers" : "method",
          fmt::format("{} gathers layers one by one: recompute in groups or of some layers alone "
                      "is not modelled with it",
                      s_.parallelism.data.sharding.name),
          "use \"recompute: full\"");
    }
    for (const std::int64_t of_part : layers) {
      const bool fits =
          r_.method == RecomputeMethod::block ? r_.layers <= of_part : of_part % r_.layers == 0;
      if (fits) continue;
      return object(
          "layers",
          r_.method == RecomputeMethod::block
              ? fmt::format("layers {} are more than the {} of a stage's chunk", r_.layers, of_part)
              : fmt::format("groups of {} layers do not divide the {} of a stage's chunk",
                            r_.layers, of_part),
          "");
    }
  }

  const Scenario& s_;
  const Recomputation& r_;
  std::vector<Objection> found_;
};

}  // namespace

std::vector<Objection> recompute_objections(const Scenario& scenario,
                                            const std::vector<std::int64_t>& layers) {
  return Objections(scenario).all(layers);
}

}  // namespace stepsim
