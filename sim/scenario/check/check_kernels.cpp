// How layers become kernels, and what kernels do with gradients and losses.
#include <algorithm>
#include <vector>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// Whether the list names something twice.
template <class Kind>
bool has_twins(std::vector<Kind> list) {
  std::ranges::sort(list);
  return std::ranges::adjacent_find(list) != list.end();
}

void check_layers(const Scenario& s, const KeyReports& keys) {
  if (!keys.sound({"model"}) || std::holds_alternative<Transformer>(s.model.shape)) return;
  if (!s.training.fused_qkv)
    keys.report({"training.fused_qkv", "leave it out"},
                "the model has no queries, keys and values");
  if (s.training.embedding_lookup != EmbeddingLookup::index)
    keys.report({"training.embedding_lookup", "leave it out"},
                "the model has no tokens to look up");
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

void check_composed(const Scenario& s, const KeyReports& keys) {
  const std::vector<ComposedOperation>& composed = s.training.composed;
  const char* key = "training.composed";
  if (has_twins(composed))
    keys.report({key, "name each once"}, "composed names an operation twice");
  if (composed.empty() || !keys.sound({"model"})) return;
  const auto has = [&](ComposedOperation operation) {
    return std::ranges::find(composed, operation) != composed.end();
  };
  if (s.training.fusion != Fusion::none) {
    keys.report({key, "leave them out, or state fusion: none"},
                "composed operations have a kernel for each elementary one, but kernels are fused");
  }
  if (has(ComposedOperation::softmax) && s.training.attention != kEagerAttention) {
    keys.report({key, "leave it out, or state attention: eager"},
                "softmax is a kernel on its own in eager attention, but attention is {}",
                s.training.attention);
  }
  const auto* model = std::get_if<Transformer>(&s.model.shape);
  if (model == nullptr) {
    keys.report({key, "leave them out"}, "composed operations are those of a transformer's layers");
    return;
  }
  if (has(ComposedOperation::activation) && model->gated_mlp) {
    keys.report({key, "leave it out"},
                "the activation that is known composed is GELU, but the model's is gated");
  }
  if (has(ComposedOperation::dropout) && !model->dropout)
    keys.report({key, "leave it out"}, "dropout is composed, but the model has none");
  if (has(ComposedOperation::norm) && model->rms_norm) {
    keys.report({key, "leave it out"},
                "the norm that is known composed is LayerNorm, but the model has RMSNorm");
  }
}

void check_fp32_parts(const Scenario& s, const KeyReports& keys) {
  const std::vector<LayerPart>& parts = s.training.fp32_parts;
  if (has_twins(parts))
    keys.report({"training.fp32_parts", "name each once"}, "fp32_parts names a part twice");
  if (parts.empty() || !keys.sound({"model"})) return;
  const char* key = "training.fp32_parts";
  if (!std::holds_alternative<Transformer>(s.model.shape))
    keys.report({key, "leave them out"}, "fp32_parts are those of a transformer's layers");
  if (s.training.fusion == Fusion::compiled || s.training.fusion == Fusion::xla) {
    keys.report({key, "leave them out, or state another fusion"},
                "fp32_parts have casts of their own, but compiled kernels cast as they go");
  }
  const bool softmax = std::ranges::find(parts, LayerPart::softmax) != parts.end();
  if (softmax && s.training.attention != kEagerAttention) {
    keys.report({key, "leave it out, or state attention: eager"},
                "softmax is a kernel on its own in eager attention, but attention is {}",
                s.training.attention);
  }
}

/// Where ranks split the vocabulary, and where a library computes the loss, it is not compiled
/// either: to say so is right, and changes nothing.
void check_loss(const Scenario& s, const KeyReports& keys) {
  if (!s.training.eager_loss || s.training.fusion == Fusion::compiled) return;
  keys.report({"training.eager_loss", "leave it out, or state fusion: compiled"},
              "eager_loss is about a loss beside compiled layers, but fusion is {}",
              name_of(s.training.fusion));
}

void check_bias_dropout(const Scenario& s, const KeyReports& keys) {
  if (s.training.bias_dropout_fusion || s.training.fusion == Fusion::fused) return;
  keys.report({"training.bias_dropout_fusion", "leave it out, or state fusion: fused"},
              "bias_dropout_fusion is about what fusion fused joins, but fusion is {}",
              name_of(s.training.fusion));
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
  keys.report({"parallelism.data.check_for_nan_in_grad", "state false"},
              "the host reads norms within a pass, but mode is graph, where a pass is one launch");
}

void check_batch_norms(const Scenario& s, const KeyReports& keys) {
  if (!s.training.fp32_batch_norms || !s.parallelism.data.overlap ||
      !std::holds_alternative<ResNet>(s.model.shape) ||
      !keys.sound({"model", "parallelism.data.overlap"}))
    return;
  keys.report(
      {"training.fp32_batch_norms", "state parallelism.data.overlap: false"},
      "batch norms' gradients are reduced apart where nothing overlaps, but overlap is true");
}

}  // namespace

void check_kernels(const Scenario& s, const KeyReports& keys) {
  check_layers(s, keys);
  check_gather_each(s, keys);
  check_composed(s, keys);
  check_fp32_parts(s, keys);
  check_loss(s, keys);
  check_bias_dropout(s, keys);
}

void check_gradients(const Scenario& s, const KeyReports& keys) {
  check_used_gradients(s, keys);
  check_gradient_reads(s, keys);
  check_batch_norms(s, keys);
  if (s.training.per_micro_batch.empty()) return;
  if (has_twins(s.training.per_micro_batch))
    keys.report({"training.per_micro_batch", "name each once"},
                "per_micro_batch names a pass twice");
  if (s.training.fused_accumulation) {
    keys.report(
        {"training.per_micro_batch", "state fused_accumulation: false"},
        "per_micro_batch is about gradients that a kernel of its own adds, but GEMMs add to them "
        "themselves");
  }
  if (keys.sound({"parallelism.data.sharding"}) && s.parallelism.data.sharding.shards_parameters) {
    keys.report({"training.per_micro_batch", "leave it out, or state another sharding"},
                "per_micro_batch is about gradients that are kept whole, but {} reduces each "
                "micro-batch's at once",
                s.parallelism.data.sharding.name);
  }
}

}  // namespace stepsim
