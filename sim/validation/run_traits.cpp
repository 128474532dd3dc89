// Finds each trait by one function.
#include "sim/validation/run_traits.hpp"

#include <algorithm>
#include <cctype>
#include <variant>

#include "sim/core/overloaded.hpp"

namespace stepsim {
namespace {

/// Whether the GPU has tensor cores: CPUs and older GPUs have no products in tiles.
bool has_tensor_cores(const GpuProfile& gpu) {
  return std::any_of(gpu.gemm.begin(), gpu.gemm.end(), [](const GemmProfile& gemm) {
    return std::holds_alternative<TiledGemm>(gemm.form);
  });
}

/// The family of a GPU: a100 for a100-80, and for a profile that `calibrate fit` called
/// a100-sxm4-80gb.
std::string family_of(const GpuProfile& gpu) {
  std::string name = gpu.name.substr(0, gpu.name.find('-'));
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

const char* generation_of(const GpuProfile& gpu) {
  if (!has_tensor_cores(gpu)) return kNoGeneration;
  switch (gpu.architecture) {
    case Architecture::volta:
      return "volta";
    case Architecture::ampere:
      return "ampere";
    case Architecture::hopper:
      return "hopper";
    case Architecture::blackwell:
      return "blackwell";
  }
  return "";
}

/// The kind of a model. A model with adapters is a kind of its own: a step leaves out most of what
/// it does to weights, and small kernels stand in its place, so that its errors are others.
const char* kind_of(const Scenario& scenario) {
  const bool has_adapters = scenario.training.lora.has_value();
  return std::visit(Overloaded{[&](const Transformer& t) {
                                 if (t.experts) return "mixture of experts";
                                 return has_adapters ? "dense transformer with adapters"
                                                     : "dense transformer";
                               },
                               [](const ResNet&) { return "convolutional"; },
                               [](const Dlrm&) { return "recommendation"; },
                               [](const Mlp&) { return "linear layers"; }},
                    scenario.model.shape);
}

/// The tokens x hidden^2 of a layer on one GPU up to which the host may set the pace. Such a
/// layer's products, 24 FLOPs for each, take 0.8 ms forward on an A100, and three times as long
/// recomputed and backward; vTrain's layers of one node take 2.8 to 5 ms for all of them, however
/// small they are.
constexpr std::int64_t kSmallLayer = std::int64_t{1} << 33;

const char* layers_of(const Scenario& scenario) {
  const auto* transformer = std::get_if<Transformer>(&scenario.model.shape);
  if (transformer == nullptr) return "";
  const Parallelism& p = scenario.parallelism;
  const std::int64_t tokens =
      scenario.training.micro_batch * scenario.sequence_length() / p.context.degree;
  const std::int64_t work = tokens * transformer->hidden * transformer->hidden / p.tensor;
  return work <= kSmallLayer ? kSmallLayers : kLargeLayers;
}

const char* class_of(Precision precision) {
  switch (precision) {
    case Precision::fp32:
    case Precision::tf32:
      return "32-bit";
    case Precision::fp16:
    case Precision::bf16:
      return "16-bit";
    case Precision::fp8:
      return "fp8";
  }
  return "";
}

}  // namespace

RunTraits traits_of(const Scenario& scenario) {
  const GpuProfile& gpu = scenario.cluster.gpu;
  return {.gpu = family_of(gpu),
          .generation = generation_of(gpu),
          .model = kind_of(scenario),
          .layers = layers_of(scenario),
          .precision = class_of(scenario.training.precision)};
}

}  // namespace stepsim
