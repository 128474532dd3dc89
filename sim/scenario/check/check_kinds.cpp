// The sentences about models that are no transformers.
#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/channel_padding.hpp"
#include "sim/scenario/check/check.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kMostStages = 8;  // widths double from stage to stage

bool has_precision(const GpuProfile& gpu, Precision precision) {
  return std::ranges::any_of(
      gpu.gemm, [&](const GemmProfile& profile) { return profile.precision == precision; });
}

}  // namespace

std::string title_without_tokens(const Model& model) {
  if (std::holds_alternative<Mlp>(model.shape)) return "an MLP";
  return std::holds_alternative<ResNet>(model.shape) ? "a ResNet" : "a DLRM";
}

void check_without_tokens(const Scenario& s, const KeyReports& keys) {
  const std::string title = title_without_tokens(s.model);
  const Parallelism& p = s.parallelism;
  if (keys.sound({"parallelism.tensor"}) && p.tensor != 1) {
    keys.report({"parallelism.tensor"}, "{} is not split by tensor parallelism, but tensor is {}",
                title, p.tensor);
  }
  if (keys.sound({"parallelism.sequence"}) && p.sequence) {
    keys.report({"parallelism.sequence"}, "{} has no sequences to split", title);
  }
  if (keys.sound({"parallelism.context.degree"}) && p.context.degree > 1) {
    keys.report({"parallelism.context.degree"}, "{} has no sequences to split", title);
  }
  if (keys.sound({"training.sequence_length"}) && s.training.sequence_length > 0) {
    keys.report({"training.sequence_length"}, "{} has no sequences, but sequence_length is {}",
                title, s.training.sequence_length);
  }
  if (keys.sound({"training.packing"}) && s.training.packing) {
    keys.report({"training.packing", "leave it out"}, "{} has no sequences to pack", title);
  }
  for (const Expectation& expectation : s.expect) {
    if (expectation.key != "tokens_per_s") continue;
    keys.report({"expect.tokens_per_s", "use samples_per_s"}, "{} has no tokens to count", title);
  }
}

void check_resnet(const ResNet& model, const KeyReports& keys) {
  if (model.blocks.empty() || model.blocks.size() > kMostStages) {
    keys.report({"model.blocks"}, "a ResNet has 1 to {} stages, but blocks has {} entries",
                kMostStages, model.blocks.size());
  }
  if (model.fused_norm && model.layout == Layout::nchw) {
    keys.report({"model.fused_norm"},
                "cuDNN fuses batch norm with the layers behind it in layout nhwc, but layout is "
                "nchw");
  }
  if (model.norms_in_convolutions && !model.fused_norm) {
    keys.report({"model.norms_in_convolutions", "state fused_norm: true"},
                "norms that convolutions take in are fused ones, but fused_norm is false");
  }
}

void check_resnet_training(const Scenario& s, const ResNet& model, const KeyReports& keys) {
  const int stages = s.parallelism.pipeline.stages;
  if (keys.sound({"parallelism.pipeline.stages"}) && stages > 1) {
    keys.report({"parallelism.pipeline.stages"},
                "a ResNet is not split into pipeline stages, but stages is {}", stages);
  }
  if (!keys.sound({"training.precision", "cluster"})) return;
  const Precision precision = s.training.precision;
  if (model.norms_in_convolutions && bytes_per_element(storage_of(precision)) != 2) {
    keys.report({"model.norms_in_convolutions"},
                "convolutions take in norms of 16 bits, but precision is {}", name_of(precision));
  }
  if (needs_scales(precision)) {
    keys.report({"training.precision"}, "convolutions in {} are not modelled", name_of(precision));
    return;
  }
  const Precision computed =
      convolution_precision(precision, padded_channels(precision, model.channels));
  if (computed == precision || has_precision(s.cluster.gpu, computed)) return;
  keys.report({"model.channels", "pad them to 4"},
              "in tf32 tensor cores do not take images of {} channels, and GPU profile '{}' has "
              "no fp32",
              model.channels, s.cluster.gpu.name);
}

void check_dlrm(const Dlrm& model, const KeyReports& keys) {
  if (model.tables.empty()) {
    keys.report({"model.tables", "add \"tables: [<rows>, ...]\""}, "a DLRM needs tables");
  }
  if (model.bottom.empty() || model.bottom.back() != model.dim) {
    keys.report({"model.bottom"},
                "the bottom MLP ends with {}, but the rows of the tables have dim {}",
                model.bottom.empty() ? "nothing" : fmt::to_string(model.bottom.back()), model.dim);
  }
  if (model.top.empty() || model.top.back() != 1) {
    keys.report({"model.top"}, "the top MLP ends with {}, but a DLRM has one output",
                model.top.empty() ? "nothing" : fmt::to_string(model.top.back()));
  }
}

void check_dlrm_training(const Scenario& s, const KeyReports& keys) {
  const int stages = s.parallelism.pipeline.stages;
  if (keys.sound({"parallelism.pipeline.stages"}) && stages > 1) {
    keys.report({"parallelism.pipeline.stages"},
                "a DLRM is not split into pipeline stages, but stages is {}", stages);
  }
}

}  // namespace stepsim
