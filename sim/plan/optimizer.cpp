// Bytes of an optimizer step, kernel by kernel.
//
// 16-bit training keeps fp32 master weights: gradients are copied to fp32 and unscaled, the update
// runs in fp32, the weights are copied back (NVIDIA/Megatron-LM
// megatron/core/optimizer/optimizer.py, MixedPrecisionOptimizer). Fused Adam reads gradient, weight
// and both moments and writes the last three: 28 B.
#include "sim/plan/optimizer.hpp"

#include "sim/cluster/kernel_time.hpp"

namespace stepsim {
namespace {

constexpr double kFp32 = 4;

Kernel moving(Workshop& shop, const std::string& name, double bytes) {
  const Work work = MemoryBound{Bytes{bytes}, MemoryRate::optimizer};
  return {.name = shop.name(name),
          .seconds = kernel_time(work, shop.scenario.cluster.gpu).seconds(),
          .memory_bound = true,
          .cause = Cause::optimizer};
}

/// Bytes of the update itself, per parameter.
double update_bytes(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::sgd:
      return 3 * kFp32;  // read gradient and weight, write weight
    case Optimizer::momentum:
      return 5 * kFp32;  // and read and write the momentum
    case Optimizer::adam:
      return 7 * kFp32;
  }
  return 0;
}

bool has_master_weights(const Scenario& scenario) {
  return bytes_per_element(scenario.training.precision) < kFp32;
}

}  // namespace

std::vector<Kernel> norm_kernels(Workshop& shop, double elements) {
  std::vector<Kernel> kernels;
  const double read = gradient_bytes(shop.scenario);
  if (has_master_weights(shop.scenario) && read < kFp32) {
    kernels.push_back(moving(shop, "gradients to fp32", (read + kFp32) * elements));
  }
  // Only fp16 scales its loss (torch.amp.GradScaler; Megatron-LM ConstantGradScaler and
  // DynamicGradScaler).
  if (shop.scenario.training.precision == Precision::fp16) {
    kernels.push_back(moving(shop, "unscale gradients", 2 * kFp32 * elements));
  }
  if (shop.scenario.training.gradient_clipping)
    kernels.push_back(moving(shop, "gradient norm", kFp32 * elements));
  return kernels;
}

std::vector<Kernel> update_kernels(Workshop& shop, double elements, double gradients) {
  std::vector<Kernel> kernels;
  if (shop.scenario.training.gradient_clipping) {
    kernels.push_back(moving(shop, "clip gradients", 2 * kFp32 * elements));
  }
  kernels.push_back(
      moving(shop, "optimizer update", update_bytes(shop.scenario.training.optimizer) * elements));
  if (has_master_weights(shop.scenario)) {
    const double weight = bytes_per_element(shop.scenario.training.precision);
    kernels.push_back(moving(shop, "weights from fp32", (kFp32 + weight) * elements));
  }
  kernels.push_back(moving(shop, "clear gradients", gradient_bytes(shop.scenario) * gradients));
  return kernels;
}

}  // namespace stepsim
