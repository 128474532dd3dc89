// The order in which attention kernels are preferred.
#include "sim/scenario/describe/default_attention.hpp"

#include <algorithm>
#include <vector>

#include "sim/scenario/attention_rate.hpp"

namespace stepsim {
namespace {

/// FLOPs of a backward pass over those of its forward pass: five products to two.
constexpr double kBackward = 2.5;

double head_dim_of(const Transformer& model) {
  return static_cast<double>(model.mla ? model.mla->key_dim() : model.head_dim);
}

/// FLOP/s over a forward and a backward pass, by the constants of the nearest head_dim; without
/// what a kernel takes at its ends.
double rate_of(const std::string& kernel, const Scenario& s, const Transformer& model) {
  const AttentionProfile& p = *nearest_attention(s.cluster.gpu, kernel, head_dim_of(model));
  const auto tokens = static_cast<double>(std::max<std::int64_t>(s.sequence_length(), 1));
  return forward_rate(p, tokens, model.causal).flops_per_second() * (1 + kBackward) /
         (1 + kBackward / p.backward_rate);
}

std::vector<std::string> preferred(const Scenario& s) {
  if (!s.framework) return {};
  const Architecture architecture = s.cluster.gpu.architecture;
  if (is_nvidia(architecture) && architecture >= Architecture::hopper) return {"cudnn", "flash2"};
  return {"flash2"};
}

}  // namespace

bool can_compute_attention(const std::string& kernel, const Transformer& model) {
  const bool is_flash = kernel.starts_with("flash");
  if ((model.relative_positions > 0 || model.sinks) && is_flash) return false;
  return !model.score_cap || !is_fused_attention(kernel) || kernel == "flash2" ||
         kernel == "flash3";
}

std::string default_attention(const Scenario& s) {
  const auto* model = std::get_if<Transformer>(&s.model.shape);
  const Precision precision = s.training.precision;
  if (model == nullptr || precision == Precision::fp32 || precision == Precision::tf32)
    return kUnfusedAttention;
  std::vector<std::string> kernels = attention_kernels(s.cluster.gpu);
  std::erase_if(kernels,
                [&](const std::string& kernel) { return !can_compute_attention(kernel, *model); });
  if (kernels.empty()) return kUnfusedAttention;
  for (const std::string& kernel : preferred(s))
    if (std::ranges::find(kernels, kernel) != kernels.end()) return kernel;
  return *std::ranges::max_element(
      kernels, {}, [&](const std::string& kernel) { return rate_of(kernel, s, *model); });
}

void resolve_attention(Scenario& scenario) {
  if (scenario.training.attention == kAutoAttention)
    scenario.training.attention = default_attention(scenario);
}

}  // namespace stepsim
