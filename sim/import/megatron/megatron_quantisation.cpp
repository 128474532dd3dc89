// How products of a run of Megatron-LM are quantised (NVIDIA/Megatron-LM
// megatron/core/transformer/transformer_config.py and megatron/core/fp8_utils.py).
#include <fmt/format.h>

#include "sim/import/megatron/megatron.hpp"

namespace stepsim {
namespace {

/// What is gathered in nvfp4, the only recipe of fp4 that Megatron-LM has by name.
void add_fp4(MegatronOptions& o, Entries& e, Draft& draft) {
  if (o.choice("fp4-recipe", {"nvfp4", "custom"}, "nvfp4") == "custom")
    draft.note("fp4-recipe custom", "nvfp4");
  const bool gathers = o.is_on("fp4-param-gather") || o.has("fp4-param");
  if (o.has("fp4-format") && gathers) e.emplace_back("fp8_parameters: true");
}

/// Layers at both ends that stay in bf16, one each unless it is said otherwise.
void add_bf16_layers(MegatronOptions& o, Entries& e, Draft& draft) {
  const std::int64_t first = o.integer("num-layers-at-start-in-bf16", 1);
  const std::int64_t last = o.integer("num-layers-at-end-in-bf16", 1);
  if (!o.is_on("first-last-layers-bf16") || first + last == 0) return;
  if (!o.has("fp8-format") && !o.has("fp4-format"))
    return draft.note("--first-last-layers-bf16", "no layer is quantised");
  e.push_back(fmt::format("bf16_layers: {{first: {}, last: {}}}", first, last));
}

/// Scales of fp8, delayed unless it is said otherwise, and what is gathered in it.
void add_fp8(MegatronOptions& o, Entries& e, Draft& draft) {
  const std::string recipe =
      o.choice("fp8-recipe", {"tensorwise", "delayed", "mxfp8", "blockwise", "custom"}, "delayed");
  const bool gathers = o.is_on("fp8-param-gather") || o.has("fp8-param");
  if (!o.has("fp8-format")) return;
  if (recipe == "custom") draft.note("fp8-recipe custom", "delayed scaling");
  if (recipe == "mxfp8") e.emplace_back("fp8_scaling: mxfp8");
  if (recipe == "tensorwise") e.emplace_back("fp8_scaling: current");
  if (recipe == "blockwise") e.emplace_back("fp8_scaling: blockwise");
  if (gathers) e.emplace_back("fp8_parameters: true");
}

}  // namespace

void add_megatron_quantisation(MegatronOptions& options, Entries& training, Draft& draft) {
  add_fp8(options, training, draft);
  add_bf16_layers(options, training, draft);
  add_fp4(options, training, draft);
}

}  // namespace stepsim
