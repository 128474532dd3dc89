// The conventions, one entry each.
#include "sim/ops/flop_convention.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "sim/ops/blocks.hpp"

namespace stepsim {
namespace {

constexpr double kPasses = 3;  // forward, and twice as much backward

/// Attention, so weighed, and adapters; and a tower, whose patches are not the tokens that others
/// count.
Flops beside_weights(const FlopTally& f, double attention) {
  return (f.attention * attention + f.adapters) * kPasses + f.tower;
}

/// Products with the model's weights, and all others.
Flops of_products(const FlopTally& f, double attention = 1) {
  return (f.layers + f.head) * f.weight_passes() + beside_weights(f, attention);
}

/// 6 FLOPs a parameter and token, two in each of three passes, or 4 where there are two.
Flops of_parameters(double parameters, const FlopTally& f, double attention) {
  return Flops{2 * f.weight_passes() * parameters * f.tokens} + beside_weights(f, attention);
}

const Registered<FlopConvention> gemms{
    {.name = "gemms",
     .description = "GEMMs, convolutions and dot products, backward 2x forward, no recompute",
     .any_model = true,
     .model_flops = [](const FlopTally& f, const ParameterTally&) { return of_products(f); }}};

// 72 B l s h^2 (1 + s/6h + V/12lh).
const Registered<FlopConvention> megatron{
    {.name = "megatron",
     .description =
         "GEMMs, logits and full (non-causal) attention, backward 2x forward, no recompute (arXiv "
         "2205.05198, appendix A)",
     .model_flops = [](const FlopTally& f, const ParameterTally&) { return of_products(f); }}};

// 96 B l s h^2 (1 + s/6h + V/16lh).
const Registered<FlopConvention> megatron_2021{
    {.name = "megatron-2021",
     .description =
         "as megatron, and all layers once more whether recomputed or not (arXiv 2104.04473, "
         "section 5.1)",
     .model_flops = [](const FlopTally& f, const ParameterTally&) {
       return of_products(f) + f.layers + f.attention + f.adapters;
     }}};

const Registered<FlopConvention> causal{
    {.name = "causal",
     .description = "as megatron, but the causal half of attention (NVIDIA/Megatron-LM "
                    "megatron/training/training.py, num_floating_point_operations)",
     .attention = 0.5,
     .model_flops = [](const FlopTally& f, const ParameterTally&) { return of_products(f, 0.5); }}};

// Per token 6 N + 12 L H Q T: the tally of attention is the second term, backward included. Also
// what mosaicml/llm-foundry's benchmarks count, whose models have H Q = hidden.
const Registered<FlopConvention> palm{
    {.name = "palm",
     .description = "6N + full attention, N with embeddings (PaLM, arXiv 2204.02311, appendix B)",
     .by_parameters = true,
     .model_flops = [](const FlopTally& f, const ParameterTally& p) {
       return of_parameters(p.active, f, 1);
     }}};

const Registered<FlopConvention> nanogpt{
    {.name = "nanogpt",
     .description =
         "as palm, N without the position table (karpathy/nanoGPT model.py, estimate_mfu)",
     .by_parameters = true,
     .model_flops = [](const FlopTally& f, const ParameterTally& p) {
       return of_parameters(p.active - p.positions, f, 1);
     }}};

const Registered<FlopConvention> torchtitan{
    {.name = "torchtitan",
     .description =
         "as palm, N without the embedding (pytorch/torchtitan torchtitan/models/utils.py)",
     .by_parameters = true,
     .model_flops = [](const FlopTally& f, const ParameterTally& p) {
       return of_parameters(p.active - p.tokens - p.positions, f, 1);
     }}};

const Registered<FlopConvention> six_nd{
    {.name = "6nd",
     .description = "6N a token, N with embeddings, no attention (Brown et al. 2020, arXiv "
                    "2005.14165, table D.1)",
     .by_parameters = true,
     .attention = 0,
     .model_flops = [](const FlopTally& f, const ParameterTally& p) {
       return of_parameters(p.active, f, 0);
     }}};

const Registered<FlopConvention> kaplan{
    {.name = "kaplan",
     .description =
         "6N a token, N without embeddings and head, no attention (arXiv 2001.08361, section 2.1)",
     .by_parameters = true,
     .attention = 0,
     .model_flops = [](const FlopTally& f, const ParameterTally& p) {
       return of_parameters(p.active - p.tokens - p.positions - p.head, f, 0);
     }}};

ParameterTally tally(const Transformer& t) {
  const auto table = [&](std::int64_t rows) { return static_cast<double>(rows * t.hidden); };
  const double tower = t.tower ? parameter_count(*t.tower, t.hidden) : 0;
  return {.active = active_parameter_count(t) - tower,
          .tokens = table(t.vocabulary),
          .positions = table(t.positions),
          .head = t.tied_embeddings ? 0 : table(t.vocabulary)};
}

/// Models without tokens.
template <class Shape>
ParameterTally tally(const Shape& shape) {
  return {.active = parameter_count(shape)};
}

}  // namespace

ParameterTally parameter_tally(const Model& model) {
  return std::visit([](const auto& shape) { return tally(shape); }, model.shape);
}

Flops recomputed(const FlopConvention& convention, Flops products, Flops attention) {
  return products + attention * convention.attention;
}

const FlopConvention& flop_convention(const std::string& name, const Model& model) {
  const FlopConvention* convention = Registry<FlopConvention>::find(name);
  if (convention == nullptr) {
    throw UserError(fmt::format("'{}' is not a convention of FLOPs: there are {}", name,
                                fmt::join(Registry<FlopConvention>::names(), ", ")));
  }
  if (!convention->any_model && !std::holds_alternative<Transformer>(model.shape)) {
    throw UserError(
        fmt::format("run.flops {} is about transformers, but '{}' is none", name, model.name));
  }
  const auto* t = std::get_if<Transformer>(&model.shape);
  if (convention->by_parameters && t != nullptr && t->diffusion) {
    throw UserError(fmt::format(
        "run.flops {} counts all parameters for each token, but those that condition the layers of "
        "'{}' see a sample once: state gemms or megatron",
        name, model.name));
  }
  return *convention;
}

}  // namespace stepsim
