// From a scenario to shape, precision and split of its passes.
#include "sim/ops/pass.hpp"

#include <algorithm>

#include "sim/ops/frozen.hpp"
#include "sim/ops/packed_attention.hpp"
#include "sim/ops/style/style.hpp"
#include "sim/scenario/expert_mesh.hpp"

namespace stepsim {
namespace {

/// Equal documents have the pairs of all, so that they take a kernel as long: its time is a sum over
/// documents l of work and, as its rate saturates as l / (l + half), of a term in proportion to l.
PackedKeys packed_keys(const Scenario& s, std::int64_t window) {
  if (!s.training.packing) return {};
  const PackedAttention packed = packed_attention(s, window);
  return {packed.keys, equal_document(packed.keys / 2 * packed.imbalance, window)};
}

PackedKeys packed_keys_in_windows(const Scenario& s) {
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  return t != nullptr && t->window ? packed_keys(s, t->window->tokens) : PackedKeys{};
}

PassShape shape_of(const Scenario& s) {
  return {.batch = s.training.micro_batch,
          .sequence = std::max<std::int64_t>(s.sequence_length() / s.parallelism.context.degree, 1),
          .vocabulary_multiple =
              s.training.vocabulary_multiple.value_or(s.parallelism.tensor > 1 ? 128 : 1),
          .frozen = s.training.lora || !s.training.trains(TowerPart::decoder),
          .packed = packed_keys(s, 0),
          .packed_in_windows = packed_keys_in_windows(s)};
}

PassPrecision precision_of(const Scenario& s) {
  const Training& t = s.training;
  const bool gathers = s.parallelism.data.sharding.shards_parameters;
  return {.precision = storage_of(t.precision),
          .linear = t.precision,
          .quantisation = t.quantisation(),
          .copies = quantised_copies(t.quantisation(), s.cluster.gpu.architecture),
          .casts_weights = t.autocast && t.keeps_wide_parameters(),
          .wide = t.parameter_element(),
          .recast_weights = gathers,
          .gathers_quantised = gathers && t.fp8_parameters,
          .transposes_weights = transposes_frozen(s),
          .adds_gradients =
              !t.fused_accumulation && (s.micro_batches() > 1 || t.finds_gradients()) && !gathers,
          .fused_gradient = t.fused_accumulation && !gathers ? bytes_per_element(t.gradients) : 0,
          .aligned_tensor_cores = t.cublas < kCublasOfAnyAlignment,
          .fp8_activation_input = t.fp8_activation_input};
}

/// Without a framework layers of experts are Megatron-LM's; others have their own, in which one
/// tensor has the weights of all experts, or a fused kernel makes maps of DeepEP's indices
/// (NVIDIA-NeMo/Automodel nemo_automodel/components/moe).
bool has_megatrons_experts(const Scenario& s, const Style& style) {
  return style.modules.has_hooks &&
         s.framework.value_or(Framework::megatron) == Framework::megatron;
}

/// XLA's programs have sizes that are known when they are compiled, and so have graphs.
bool waits_for_counts(const Scenario& s) {
  const ExpertParallel& expert = s.parallelism.expert;
  const bool is_fixed = expert.capacity || s.training.fusion == "xla" || s.host.graph();
  return expert.host_waits.value_or(!is_fixed);
}

/// A compiler clamps within the activation's kernel, and so does Transformer Engine's fused MLP.
bool clamps_apart(const Scenario& s, const Style& style) {
  return !style.joins_chains && !s.parallelism.expert.grouped_kernel;
}

PassSplit split_of(const Scenario& s, const Style& style) {
  const Parallelism& p = s.parallelism;
  const bool copies = p.dtensor && p.sequence;
  PassSplit split{.tensor = p.tensor,
                  .sequence_parallel = p.sequence,
                  .overlap_tensor = p.overlap_tensor,
                  .split_products = p.split_products,
                  .dtensor = p.dtensor,
                  .copies_shards = copies && p.split_products != SplitProducts::async_tp,
                  .gathers_each = copies && p.gather_each,
                  .context = p.context,
                  .experts = p.expert,
                  .waits_for_counts = waits_for_counts(s),
                  .megatrons_experts = has_megatrons_experts(s, style),
                  .clamps_apart = clamps_apart(s, style),
                  .expert_mesh = expert_mesh(s),
                  .replicas = s.replicas(),
                  .gathers_parameters = p.data.sharding.shards_parameters};
  split.experts.fp8_dispatch &= p.expert.degree > 1;
  split.experts.imbalance = imbalance_of(s);
  return split;
}

}  // namespace

Pass Pass::of(LayerPart part) const {
  Pass own = *this;
  own.precision = style->type_of(part, precision);
  return own;
}

Pass Pass::carried() const { return casts_weights ? of(LayerPart::residual) : *this; }

Pass pass_of(const Scenario& scenario, const Style& style) {
  return {shape_of(scenario),        precision_of(scenario),
          split_of(scenario, style), &style,
          &scenario.training,        {.keeps_placeholders = style.keeps_placeholders}};
}

Pass unquantised(Pass pass) {
  pass.linear = pass.precision;
  return pass;
}

Pass of_activations(Pass pass) {
  if (pass.frozen) pass.copies = 1;
  return pass;
}

}  // namespace stepsim
