// The modules of a layer that selective recompute can drop, found by the names of its ops.
//
// Names and extent: NVIDIA/Megatron-LM megatron/core/transformer/transformer_config.py,
// recompute_modules. Core attention, MLPs and MoE layers are checkpoints: their input is kept and
// all of them runs again. Of norms, the experts' activation and MLA's up projections the output is
// dropped, which the layer behind them would have kept as its input (CheckpointWithoutOutput).
#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "sim/ops/blocks.hpp"

namespace stepsim {
namespace {

using Names = std::initializer_list<std::string_view>;

struct Layer {
  explicit Layer(const Block& of) : block(of), ops(of.order()) {}

  const Op* find(std::string_view name) const {
    const auto found =
        std::find_if(ops.begin(), ops.end(), [&](const Op* op) { return op->name == name; });
    return found == ops.end() ? nullptr : *found;
  }

  std::size_t index(const Op* op) const {
    return static_cast<std::size_t>(op - block.dag.ops.data());
  }

  /// A region that runs those of these ops again that the layer has; `before` is the last of them.
  RecomputeRegion region(RecomputeModule module, Names names) const {
    RecomputeRegion result{.module = module};
    for (const std::string_view name : names) {
      const Op* op = find(name);
      if (op == nullptr) continue;
      if (result.forward.empty()) result.first = index(op);
      result.before = index(op);
      result.forward.insert(result.forward.end(), op->forward.begin(), op->forward.end());
      result.dropped += op->saved;
      (op->core_attention ? result.flops.attention : result.flops.products) += op->flops;
    }
    return result;
  }

  /// A checkpoint: what its first op reads is kept.
  void add_checkpoint(std::vector<RecomputeRegion>& regions, RecomputeModule module,
                      Names names) const {
    RecomputeRegion result = region(module, names);
    if (result.forward.empty()) return;
    Bytes input;
    for (const std::string_view name : names) {
      if (const Op* op = find(name); op != nullptr && input == Bytes{0}) input = op->saved_input;
    }
    result.dropped -= input;
    regions.push_back(std::move(result));
  }

  /// The norm's output, which its readers keep; it is there again before the backward pass of all
  /// that the norm leads to, whose last op is the last one found of `last`.
  void add_norm(std::vector<RecomputeRegion>& regions, std::string_view norm, Names readers,
                Names last) const {
    if (find(norm) == nullptr) return;
    RecomputeRegion result = region(RecomputeModule::layernorm, {norm});
    result.dropped = Bytes{0};
    for (const std::string_view name : readers) {
      const Op* op = find(name);
      if (op == nullptr) continue;
      if (result.dropped == Bytes{0}) result.first = index(op);
      result.dropped += op->saved_input;
    }
    for (const std::string_view name : last) {
      if (const Op* op = find(name)) result.before = index(op);
    }
    if (result.dropped > Bytes{0}) regions.push_back(std::move(result));
  }

  void add_core(std::vector<RecomputeRegion>& regions) const {
    for (const Op* op : ops) {
      if (!op->core_attention) continue;
      RecomputeRegion up =
          region(RecomputeModule::mla_up_proj, {"query up", "kv up", "latent heads"});
      up.before = up.first = index(op);
      up.dropped = op->saved - op->saved_scores;
      if (!up.forward.empty()) regions.push_back(std::move(up));
      regions.push_back({.module = RecomputeModule::core_attention,
                         .before = index(op),
                         .first = index(op),
                         .forward = op->forward,
                         .dropped = op->saved_scores,
                         .flops = {Flops{0}, op->flops}});
    }
  }

  void add_expert_activation(std::vector<RecomputeRegion>& regions) const {
    const Op* op = find("experts");
    if (op == nullptr) return;
    RecomputeRegion result{.module = RecomputeModule::moe_act,
                           .before = index(op),
                           .first = index(op),
                           .dropped = op->saved_scores};
    for (const Item& item : op->forward) {
      const auto* launch = std::get_if<Launch>(&item);
      if (launch != nullptr && launch->name.starts_with("experts activation"))
        result.forward.push_back(item);
    }
    regions.push_back(std::move(result));
  }

  const Block& block;
  const std::vector<const Op*> ops;
};

}  // namespace

std::vector<RecomputeRegion> recompute_regions(const Block& block) {
  const Layer layer(block);
  std::vector<RecomputeRegion> regions;
  // Where queries are compressed the norm's reader is that layer.
  const bool down = layer.find("query down") != nullptr;
  layer.add_norm(regions, "attention norm", {"qkv", down ? "query down" : "query up"},
                 {"projection"});
  layer.add_core(regions);
  layer.add_norm(regions, "mlp norm", {"mlp up", "router", "shared up"},
                 {"mlp down", "combine", "shared experts sum"});
  layer.add_checkpoint(regions, RecomputeModule::mlp,
                       {"mlp up", "activation", "swiglu", "mlp down"});
  if (layer.find("router") == nullptr) return regions;
  std::erase_if(regions, [](const auto& r) { return r.module == RecomputeModule::mlp; });
  layer.add_expert_activation(regions);
  layer.add_checkpoint(regions, RecomputeModule::shared_experts,
                       {"shared up", "activation", "swiglu", "shared down"});
  layer.add_checkpoint(regions, RecomputeModule::moe,
                       {"router", "dispatch", "experts", "combine", "shared up", "activation",
                        "swiglu", "shared down", "shared experts sum"});
  return regions;
}

}  // namespace stepsim
