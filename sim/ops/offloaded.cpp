// Adds up what modules keep, by the names of their ops.
#include "sim/ops/offloaded.hpp"

#include <algorithm>
#include <string_view>

namespace stepsim {
namespace {

/// What the op keeps for that module.
Bytes kept_by(const Op& op, OffloadModule module) {
  const std::string_view name = op.name;
  switch (module) {
    case OffloadModule::attn_norm:
      return name == "attention norm" ? op.saved : Bytes{};
    case OffloadModule::qkv_linear:
      return name == "qkv" || name == "queries" || name == "query down" ? op.saved_input : Bytes{};
    case OffloadModule::core_attn:
      return op.core_attention ? op.saved : Bytes{};
    case OffloadModule::attn_proj:
      return name == "projection" ? op.saved_input : Bytes{};
    case OffloadModule::mlp_norm:
      return name == "mlp norm" ? op.saved : Bytes{};
    case OffloadModule::expert_fc1:
      // Its two products keep their inputs, the second one's is the activation's.
      return name == "experts" ? op.saved - op.saved_scores : Bytes{};
    case OffloadModule::moe_act:
      return name == "experts" ? op.saved_scores : Bytes{};
  }
  return {};
}

}  // namespace

Bytes offloaded_bytes(const Block& block, const Recomputation& recompute,
                      const Training& training) {
  if (!training.offload || !block.recomputable) return {};
  const Bytes kept = block.saved(recompute);
  const ActivationOffload& offload = *training.offload;
  if (offload.modules.empty()) return kept * offload.share;
  Bytes modules;
  for (const Op& op : block.dag.ops) {
    for (const OffloadModule module : offload.modules) modules += kept_by(op, module);
  }
  return std::min(modules, kept) * offload.share;
}

}  // namespace stepsim
