// Compares scenarios key by key, leaving out what has no effect.
#include "sim/export/round_trip.hpp"

#include <algorithm>
#include <map>

#include "sim/core/words.hpp"
#include "sim/scenario/read/keys.hpp"

namespace stepsim {
namespace {

/// Names and sources, and what is asked of the simulation.
constexpr std::string_view kLabels =
    "name description framework model.name model.published_parameters model.unpublished "
    "model.source model.notes cluster.name run expect";

constexpr std::string_view kPlan =
    "model cluster.nodes cluster.gpus_per_node training.sequence_length "
    "training.decoder_sequence_length training.global_batch training.micro_batch "
    "training.precision training.optimizer training.recompute.kind training.recompute.modules "
    "training.recompute.method training.recompute.layers training.lora parallelism.tensor "
    "parallelism.sequence parallelism.context parallelism.expert.degree "
    "parallelism.expert.tensor "
    "parallelism.expert.dispatcher parallelism.pipeline.stages parallelism.pipeline.schedule "
    "parallelism.pipeline.chunks parallelism.pipeline.layers parallelism.data.sharding "
    "parallelism.data.shard_degree parallelism.data.offload_optimizer";

bool is_within_any(std::string_view key, std::string_view outers) {
  return std::ranges::any_of(words_of(outers),
                             [&](std::string_view outer) { return is_within(key, outer); });
}

void reset_training(Scenario& s) {
  Training& t = s.training;
  const Recomputation preset;
  if (t.recompute.kind != Recompute::selective) t.recompute.modules = preset.modules;
  std::ranges::sort(t.recompute.modules);
  if (t.recompute.kind != Recompute::full) {
    t.recompute.method = preset.method;
    t.recompute.layers = preset.layers;
    t.recompute.early_stop = preset.early_stop;
  }
  if (t.precision != Precision::fp8) t.fp8_scaling = Training{}.fp8_scaling;
  if (!needs_scales(t.precision)) t.fp8_parameters = false;
  if (t.fusion != Training{}.fusion) t.bias_dropout_fusion = true;
  // YaRN's positions have no fused kernels, whatever is said.
  const auto* model = std::get_if<Transformer>(&s.model.shape);
  if (model != nullptr && model->has_yarn()) t.rope_fusion = false;
  // What an absent multiple means (sim/scenario/training.hpp).
  if (!t.vocabulary_multiple) t.vocabulary_multiple = s.parallelism.tensor > 1 ? 128 : 1;
}

void reset_data(Scenario& s) {
  DataParallel& d = s.parallelism.data;
  const DataParallel preset;
  d.degree.reset();
  if (s.shard_groups() == 1) d.shard_degree.reset();
  const bool gathers = d.sharding.shards_optimizer && !d.sharding.shards_parameters;
  if (!gathers) {
    d.overlap_param_gather = preset.overlap_param_gather;
    d.all_reduce_gradients = preset.all_reduce_gradients;
  }
  if (!d.overlap_param_gather) d.align_param_gather = preset.align_param_gather;
  if (d.sharding.shards_parameters) return;
  d.forward_prefetch = preset.forward_prefetch;
  d.backward_prefetch = preset.backward_prefetch;
  d.limit_all_gathers = preset.limit_all_gathers;
  d.limit_reduce_scatters = preset.limit_reduce_scatters;
  d.copy_out = preset.copy_out;
  d.reshard_after_forward = preset.reshard_after_forward;
  d.persistence_threshold = preset.persistence_threshold;
}

void reset_splits(Parallelism& p) {
  const Parallelism preset;
  if (p.tensor == 1) {
    p.sequence = preset.sequence;
    p.split_products = preset.split_products;
    p.overlap_tensor = preset.overlap_tensor;
    p.dtensor = preset.dtensor;
    p.gather_each = preset.gather_each;
  }
  if (p.context.degree == 1) p.context = preset.context;
  if (p.expert.tensor == p.tensor) p.expert.tensor.reset();
  if (p.expert.degree == 1) p.expert = {.tensor = p.expert.tensor, .capacity = p.expert.capacity};
  if (p.pipeline.stages == 1) p.pipeline = preset.pipeline;
  auto& layers = p.pipeline.layers;
  const auto differs = [&](std::int64_t each) { return each != layers.front(); };
  if (std::ranges::none_of(layers, differs)) layers.clear();
}

}  // namespace

Scenario effective(Scenario scenario) {
  reset_splits(scenario.parallelism);
  reset_training(scenario);
  reset_data(scenario);
  if (scenario.cluster.nodes == 1) scenario.cluster.inter_node.reset();
  return scenario;
}

std::vector<KeyDifference> differences(const Scenario& here, const Scenario& there) {
  std::map<std::string, std::string> of_there;
  const std::vector<KeyValue> last = keys_of(effective(there));
  for (const KeyValue& each : last) of_there[each.key] = each.value;
  std::vector<KeyDifference> found;
  const auto add = [&](const std::string& key, const std::string& one, const std::string& other) {
    if (one != other && !is_within_any(key, kLabels)) found.push_back({key, one, other});
  };
  std::map<std::string, std::string> of_here;
  for (const KeyValue& each : keys_of(effective(here))) {
    of_here[each.key] = each.value;
    const auto same = of_there.find(each.key);
    add(each.key, each.value, same == of_there.end() ? "absent" : same->second);
  }
  for (const KeyValue& each : last)
    if (!of_here.contains(each.key)) add(each.key, "absent", each.value);
  return found;
}

bool makes_plan(std::string_view key) { return is_within_any(key, kPlan); }

}  // namespace stepsim
