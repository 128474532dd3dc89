// The sentences about models that are no transformers.
#include "sim/scenario/check/check_kinds.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/channel_padding.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kMostStages = 8;  // widths double from stage to stage

bool has_precision(const GpuProfile& gpu, Precision precision) {
  return std::any_of(gpu.gemm.begin(), gpu.gemm.end(),
                     [&](const GemmProfile& profile) { return profile.precision == precision; });
}

}  // namespace

void check_without_tokens(const Scenario& s, const std::string& title, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  if (keys.sound({"parallelism.tensor"}) && p.tensor != 1) {
    keys.report(
        "parallelism.tensor",
        fmt::format("{} is not split by tensor parallelism, but tensor is {}", title, p.tensor));
  }
  if (keys.sound({"parallelism.sequence"}) && p.sequence) {
    keys.report("parallelism.sequence", title + " has no sequences to split");
  }
  if (keys.sound({"parallelism.context.degree"}) && p.context.degree > 1) {
    keys.report("parallelism.context.degree", title + " has no sequences to split");
  }
  if (keys.sound({"training.sequence_length"}) && s.training.sequence_length > 0) {
    keys.report("training.sequence_length",
                fmt::format("{} has no sequences, but sequence_length is {}", title,
                            s.training.sequence_length));
  }
  if (keys.sound({"training.recompute"}) && s.training.recompute.kind == Recompute::selective) {
    keys.report("training.recompute",
                fmt::format("selective recompute is about attention, which {} has not", title),
                "use none or full");
  }
  for (const Expectation& expectation : s.expect) {
    if (expectation.key != "tokens_per_s") continue;
    keys.report("expect.tokens_per_s", title + " has no tokens to count", "use samples_per_s");
  }
}

void check_resnet(const ResNet& model, const KeyReports& keys) {
  if (model.blocks.empty() || model.blocks.size() > kMostStages) {
    keys.report("model.blocks",
                fmt::format("a ResNet has 1 to {} stages, but blocks has {} entries", kMostStages,
                            model.blocks.size()));
  }
  if (model.fused_norm && model.layout == Layout::nchw) {
    keys.report("model.fused_norm",
                "cuDNN fuses batch norm with the layers behind it in layout nhwc, but layout is "
                "nchw");
  }
  if (model.norms_in_convolutions && !model.fused_norm) {
    keys.report("model.norms_in_convolutions",
                "norms that convolutions take in are fused ones, but fused_norm is false",
                "state fused_norm: true");
  }
}

void check_resnet_training(const Scenario& s, const ResNet& model, const KeyReports& keys) {
  const int stages = s.parallelism.pipeline.stages;
  if (keys.sound({"parallelism.pipeline.stages"}) && stages > 1) {
    keys.report(
        "parallelism.pipeline.stages",
        fmt::format("a ResNet is not split into pipeline stages, but stages is {}", stages));
  }
  if (s.training.fp32_batch_norms && s.parallelism.data.overlap &&
      keys.sound({"parallelism.data.overlap"})) {
    keys.report(
        "training.fp32_batch_norms",
        "batch norms' gradients are reduced apart where nothing overlaps, but overlap is true",
        "state parallelism.data.overlap: false");
  }
  if (!keys.sound({"training.precision", "cluster"})) return;
  const Precision precision = s.training.precision;
  if (model.norms_in_convolutions && bytes_per_element(storage_of(precision)) != 2) {
    keys.report("model.norms_in_convolutions",
                fmt::format("convolutions take in norms of 16 bits, but precision is {}",
                            name_of(precision)));
  }
  if (precision == Precision::fp8) {
    keys.report("training.precision", "convolutions in fp8 are not modelled");
    return;
  }
  const Precision computed =
      convolution_precision(precision, padded_channels(precision, model.channels));
  if (computed == precision || has_precision(s.cluster.gpu, computed)) return;
  keys.report(
      "model.channels",
      fmt::format(
          "in tf32 tensor cores do not take images of {} channels, and GPU profile '{}' has "
          "no fp32",
          model.channels, s.cluster.gpu.name),
      "pad them to 4");
}

void check_dlrm(const Dlrm& model, const KeyReports& keys) {
  if (model.tables.empty()) {
    keys.report("model.tables", "a DLRM needs tables", "add \"tables: [<rows>, ...]\"");
  }
  if (model.bottom.empty() || model.bottom.back() != model.dim) {
    keys.report("model.bottom",
                fmt::format("the bottom MLP ends with {}, but the rows of the tables have dim {}",
                            model.bottom.empty() ? "nothing" : fmt::to_string(model.bottom.back()),
                            model.dim));
  }
  if (model.top.empty() || model.top.back() != 1) {
    keys.report("model.top",
                fmt::format("the top MLP ends with {}, but a DLRM has one output",
                            model.top.empty() ? "nothing" : fmt::to_string(model.top.back())));
  }
}

namespace {

/// What only rank 0 has is in no group: nothing of it is shared out, and no table is in parts.
void check_bottom_mlp(const Scenario& s, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  if (!keys.sound({"parallelism.bottom_mlp"}) || p.bottom_mlp == BottomMlp::each) return;
  if (keys.sound({"parallelism.embedding"}) && p.embedding == EmbeddingSplit::row) {
    keys.report("parallelism.embedding",
                "each rank has rows of all tables, but bottom_mlp: first leaves tables to others",
                "state embedding: table");
  }
  if (keys.sound({"parallelism.data.sharding"}) && p.data.sharding.shards() > 0) {
    keys.report("parallelism.data.sharding",
                fmt::format("{} shares out what all ranks hold, but bottom_mlp: first puts the "
                            "bottom MLP on one",
                            p.data.sharding.name),
                "state sharding: ddp");
  }
}

}  // namespace

void check_dlrm_training(const Scenario& s, const KeyReports& keys) {
  check_bottom_mlp(s, keys);
  const int stages = s.parallelism.pipeline.stages;
  if (keys.sound({"parallelism.pipeline.stages"}) && stages > 1) {
    keys.report("parallelism.pipeline.stages",
                fmt::format("a DLRM is not split into pipeline stages, but stages is {}", stages));
  }
  if (keys.sound({"training.recompute"}) && s.training.recompute.kind == Recompute::full) {
    keys.report("training.recompute",
                "a DLRM is not recomputed: its memory is in its tables, not in activations");
  }
}

}  // namespace stepsim
