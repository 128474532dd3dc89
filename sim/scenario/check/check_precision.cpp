// The sentences about types of numbers.
#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// Whether the GPU has the products of that kind of fp8; all that have fp8 have one scale a tensor.
bool multiplies(const GpuProfile& gpu, Fp8Scaling scaling) {
  return std::ranges::any_of(gpu.gemm, [&](const GemmProfile& gemm) {
    if (gemm.precision != Precision::fp8) return false;
    return scaling == Fp8Scaling::mxfp8 ? gemm.block_scaling : gemm.blockwise > 0;
  });
}

/// Parameters have the type of products or are fp32, and then somebody casts them.
void check_wide_parameters(const Scenario& scenario, const KeyReports& keys) {
  if (!keys.sound({"training.parameters", "training.autocast", "parallelism.data.sharding"}))
    return;
  const Training& t = scenario.training;
  const Sharding& sharding = scenario.parallelism.data.sharding;
  const Precision products = storage_of(t.precision);
  if (t.parameters && *t.parameters != products && *t.parameters != Precision::fp32) {
    keys.report({"training.parameters", products == Precision::fp32
                                            ? "use fp32"
                                            : fmt::format("use fp32 or {}", name_of(products))},
                "parameters are {}, but products are {} and take parameters of that type or fp32",
                name_of(*t.parameters), name_of(t.precision));
    return;
  }
  const bool narrow = bytes_per_element(products) == 2 && !needs_scales(t.precision);
  if (t.autocast && (!narrow || !t.keeps_wide_parameters())) {
    keys.report({"training.autocast", "leave it out, or state \"precision: bf16\""},
                "autocast casts parameters of fp32 to 16 bits, but precision is {} and parameters "
                "are {}",
                name_of(t.precision), name_of(t.parameters.value_or(products)));
    return;
  }
  if (t.autocast && !std::holds_alternative<Transformer>(scenario.model.shape)) {
    keys.report({"training.autocast", "leave it out"},
                "autocast is for transformers, but '{}' is none", scenario.model.name);
  }
  if (t.keeps_wide_parameters() && !t.autocast && !sharding.shards_parameters) {
    keys.report({"training.parameters", "state \"autocast: true\" or \"sharding: zero3\""},
                "parameters are fp32 and precision is {}, but nothing casts them: autocast does, "
                "and zero3 where it gathers them",
                name_of(t.precision));
    return;
  }
  if (t.keeps_wide_parameters() && bytes_per_element(t.gradients) < t.parameter_element() &&
      !sharding.shards_parameters) {
    keys.report({"training.gradients",
                 fmt::format("leave it out, or state \"parallelism.data.reduce_dtype: {}\"",
                             name_of(t.gradients))},
                "gradients have the type of their parameters, fp32, unless zero3 reduces them "
                "narrower, but gradients is {}",
                name_of(t.gradients));
  }
}

/// Buckets are cast to a type that collectives add in.
void check_reduce_dtype(const Scenario& scenario, const KeyReports& keys) {
  const DataParallel& data = scenario.parallelism.data;
  if (!data.reduce_dtype || !keys.sound({"parallelism.data.reduce_dtype"})) return;
  const std::string type = name_of(*data.reduce_dtype);
  if (needs_scales(*data.reduce_dtype) || *data.reduce_dtype == Precision::tf32)
    return keys.report({"parallelism.data.reduce_dtype", "use bf16, fp16 or fp32"},
                       "gradients are not reduced in {}", type);
  if (data.sharding.shards_parameters && keys.sound({"parallelism.data.sharding"}))
    keys.report({"parallelism.data.reduce_dtype",
                 fmt::format("state \"training.gradients: {}\" instead", type)},
                "reduce_dtype is of buckets that are cast, but zero3 reduces gradients in "
                "training.gradients");
}

/// Layers that stay in bf16 stand beside others that are quantised one by one.
void check_bf16_layers(const Scenario& scenario, const KeyReports& keys) {
  const Training& t = scenario.training;
  if (!t.bf16_layers || !keys.sound({"training.bf16_layers", "model"})) return;
  if (!needs_scales(t.precision)) {
    keys.report({"training.bf16_layers", "leave it out, or state \"precision: fp8\""},
                "bf16_layers stay in bf16 where others are fp8 or nvfp4, but precision is {}",
                name_of(t.precision));
    return;
  }
  if (t.precision == Precision::fp8 && t.fp8_scaling == Fp8Scaling::delayed) {
    keys.report(
        {"training.bf16_layers", "leave it out, or state another fp8_scaling"},
        "scales from earlier steps are one context for all layers, which Megatron-LM has no "
        "layers in bf16 beside");
  }
  const auto* model = std::get_if<Transformer>(&scenario.model.shape);
  if (model == nullptr || model->encoder_layers > 0 || model->diffusion) {
    keys.report({"training.bf16_layers", "leave it out"},
                "bf16_layers are the first and last layers of a decoder or an encoder, which '{}' "
                "is not",
                scenario.model.name);
  } else if (t.bf16_layers->first + t.bf16_layers->last > model->layers) {
    keys.report({"training.bf16_layers", fmt::format("state at most {} together", model->layers)},
                "{} first and {} last layers stay in bf16, but the model has {}",
                t.bf16_layers->first, t.bf16_layers->last, model->layers);
  }
}

}  // namespace

void check_precision(const Scenario& scenario, const KeyReports& keys) {
  if (!keys.sound({"training.precision", "training.gradients", "training.fp8_scaling", "cluster"}))
    return;
  const Training& t = scenario.training;
  const GpuProfile& gpu = scenario.cluster.gpu;
  check_wide_parameters(scenario, keys);
  check_reduce_dtype(scenario, keys);
  check_bf16_layers(scenario, keys);
  if (needs_scales(t.gradients))
    keys.report({"training.gradients", "use bf16 or fp32"}, "gradients are not added up in {}",
                name_of(t.gradients));
  if (t.moments == Precision::nvfp4)
    keys.report({"training.moments", "use fp8, bf16, fp16 or fp32"},
                "moments are not kept in nvfp4");
  if (t.precision != Precision::fp8 && t.fp8_scaling != Fp8Scaling::delayed) {
    keys.report({"training.fp8_scaling", "state \"precision: fp8\""},
                "fp8_scaling is {}, but precision is {}", name_of(t.fp8_scaling),
                name_of(t.precision));
  }
  if (t.reduce_amax && (t.precision != Precision::fp8 || t.fp8_scaling != Fp8Scaling::delayed)) {
    keys.report({"training.reduce_amax", "leave it out, or state \"precision: fp8\""},
                "reduce_amax is about scales from earlier steps, which fp8 with delayed "
                "scaling has");
  }
  const auto* model = std::get_if<Transformer>(&scenario.model.shape);
  if (t.fp8_activation_input && (model == nullptr || !model->gated_mlp)) {
    keys.report({"training.fp8_activation_input", "leave it out"},
                "fp8_activation_input is about gated activations, which the model does not have");
  } else if (t.fp8_activation_input && bytes_per_element(storage_of(t.precision)) != 2) {
    keys.report({"training.fp8_activation_input", "leave it out"},
                "fp8_activation_input makes 16 bits narrower, but activations are {}",
                name_of(storage_of(t.precision)));
  }
  if (t.fp8_activation_input && model != nullptr && model->experts && model->experts->clamp > 0) {
    keys.report({"training.fp8_activation_input", "leave it out"},
                "fp8_activation_input is of an activation that clamps nothing, but experts have a "
                "clamp of {}",
                model->experts->clamp);
  }
  const Sharding& sharding = scenario.parallelism.data.sharding;
  const bool holds = sharding.shards_optimizer || sharding.shards_parameters || t.lora;
  if (t.fp8_parameters && (!needs_scales(t.precision) || !holds)) {
    keys.report(
        {"training.fp8_parameters",
         "leave it out, or state \"precision: fp8\" and \"sharding: zero1\""},
        "fp8_parameters are those that zero1, zero2 and zero3 gather where precision is fp8 or "
        "nvfp4");
  }
  if (t.precision == Precision::fp8 && scales_blocks(t.fp8_scaling) &&
      !multiplies(gpu, t.fp8_scaling)) {
    keys.report({"training.fp8_scaling", "use delayed or current"},
                "GPU profile '{}' has no products of blocks with scales of their "
                "own, as {} needs",
                gpu.name, name_of(t.fp8_scaling));
  }
  if (t.cublas < kCublasOfAnyAlignment && gpu.architecture != Architecture::volta) {
    keys.report(
        {"training.cublas", fmt::format("leave it out, or state {}", kCublasOfAnyAlignment)},
        "cuBLAS {} does not know the GPU of profile '{}'", t.cublas, gpu.name);
  }
}

}  // namespace stepsim
