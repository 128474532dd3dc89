// How layers become kernels, and what kernels do with gradients and losses.
#include <algorithm>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

void check_layers(const Scenario& s, const KeyReports& keys) {
  if (!keys.sound({"model"}) || std::holds_alternative<Transformer>(s.model.shape)) return;
  if (!s.training.fused_qkv)
    keys.report({"training.fused_qkv", "leave it out"},
                "the model has no queries, keys and values");
}

void check_gather_each(const Scenario& s, const KeyReports& keys) {
  if (!s.parallelism.gather_each ||
      !keys.sound({"model", "parallelism.dtensor", "parallelism.sequence"}))
    return;
  const char* key = "parallelism.gather_each";
  if (!s.parallelism.dtensor || !s.parallelism.sequence) {
    keys.report({key, "leave it out, or state dtensor and sequence"},
                "gather_each is about DTensor's sequence-parallel tensors, but {} is false",
                s.parallelism.dtensor ? "sequence" : "dtensor");
    return;
  }
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  if (t != nullptr && s.training.fused_qkv && !t->gated_mlp) {
    keys.report(
        {key, "leave it out"},
        "gather_each: no two linear layers have one input, with fused_qkv and an MLP without a "
        "gate");
  }
}

/// What switches one of the fused kernels off needs fused kernels.
void check_fusions(const Scenario& s, const KnownNames& known, const KeyReports& keys) {
  if (!keys.sound({"training.fusion"})) return;
  const auto style = std::ranges::find(known.styles, s.training.fusion, &KnownStyle::name);
  if (style == known.styles.end() || style->has_fusion_switches) return;
  const auto report = [&](const char* key) {
    keys.report({std::string("training.") + key, "leave it out, or state fusion: fused"},
                "{} is about what fusion fused joins, but fusion is {}", key, s.training.fusion);
  };
  if (!s.training.bias_dropout_fusion) report("bias_dropout_fusion");
  if (!s.training.rope_fusion) report("rope_fusion");
}

void check_rope_fusion(const Scenario& s, const KeyReports& keys) {
  if (s.training.rope_fusion || !keys.sound({"model"})) return;
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  if (t != nullptr && (t->rotary() || t->mla)) return;
  keys.report({"training.rope_fusion", "leave it out"},
              "rope_fusion is about rotary positions, which the model has none of");
}

/// Products that add to gradients find them in one buffer. What zero3 keeps are sums over ranks,
/// which no product makes.
void check_used_gradients(const Scenario& s, const KeyReports& keys) {
  const bool by_kernels =
      !s.training.fused_accumulation || s.parallelism.data.sharding.shards_parameters;
  if (by_kernels || !s.training.finds_gradients() ||
      !keys.sound({"training.fused_accumulation", "parallelism.data.sharding"}))
    return;
  keys.report(
      {"training.used_gradients", "state fused_accumulation: false, or use clear_buffer or free"},
      "used_gradients is {}: a kernel of its own adds to each gradient that is "
      "found, but GEMMs add to them themselves",
      name_of(s.training.used_gradients));
}

/// What the host reads between kernels, it cannot read in a graph of them.
void check_gradient_reads(const Scenario& s, const KeyReports& keys) {
  if (!keys.sound({"host", "parallelism"}) || !s.host.graph()) return;
  const DataParallel& data = s.parallelism.data;
  const bool reduces = s.data_parallel() > 1 && !data.sharding.shards_parameters;
  if (!data.check_for_nan_in_grad || !reduces) return;
  keys.report({"parallelism.data.check_for_nan_in_grad",
               "state parallelism.data.check_for_nan_in_grad: false"},
              "the host reads norms within a pass, but mode is graph, where a pass is one launch");
}

void check_convolutions(const Scenario& s, const KeyReports& keys) {
  const char* key = "training.convolution_autotuning";
  if (s.training.convolution_autotuning ||
      !keys.sound({key, "model", "cluster", "training.precision"}))
    return;
  if (!std::holds_alternative<ResNet>(s.model.shape))
    return keys.report({key, "leave it out"}, "'{}' has no convolutions", s.model.name);
  const auto gemm =
      std::ranges::find(s.cluster.gpu.gemm, s.training.precision, &GemmProfile::precision);
  if (gemm == s.cluster.gpu.gemm.end() || gemm->convolution.untuned > 0) return;
  keys.report({key, "leave it out"},
              "what kernels that nobody tried take on {} in {} is not known: its profile has no "
              "convolution.untuned",
              s.cluster.gpu.name, name_of(s.training.precision));
}

}  // namespace

void check_kernels(const Scenario& s, const KnownNames& known, const KeyReports& keys) {
  check_layers(s, keys);
  check_gather_each(s, keys);
  check_fusions(s, known, keys);
  check_rope_fusion(s, keys);
  check_convolutions(s, keys);
}

void check_gradients(const Scenario& s, const KeyReports& keys) {
  check_used_gradients(s, keys);
  check_gradient_reads(s, keys);
}

}  // namespace stepsim
