// Factors from kernels whose libraries were measured before and after, or in both precisions.
//
// A thread that loads two bytes at a time has half of the bytes in flight that one of 32-bit
// tensors has, and as many instructions: 16 bits save little.
#include "sim/ops/scalar_loads.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "sim/core/error.hpp"

namespace stepsim {
namespace {

MemoryRate rate_of(MovingKernels kernels) {
  switch (kernels) {
    case MovingKernels::elementwise:
      return MemoryRate::elementwise;
    case MovingKernels::dropout:
      return MemoryRate::dropout;
    case MovingKernels::norm:
      return MemoryRate::norm;
    case MovingKernels::softmax:
      return MemoryRate::softmax;
  }
  throw InternalError("kernels of no class");
}

/// The kernel of an item, where it is one of that rate.
template <class AnyItem>
auto* kernel_of(AnyItem& item, MemoryRate rate) {
  auto* launch = std::get_if<Launch>(&item);
  auto* kernel = launch == nullptr ? nullptr : std::get_if<MemoryBound>(&launch->work);
  return kernel != nullptr && kernel->rate == rate ? kernel : nullptr;
}

void slow_down(Items& items, MemoryRate rate, double factor) {
  for (Item& item : items) {
    if (auto* kernel = kernel_of(item, rate)) kernel->slower = factor;
  }
}

/// Sums over columns have the rate of norms; those of biases are not among them.
bool is_norm(const Op& op) {
  return std::ranges::any_of(op.forward,
                             [](const Item& item) { return kernel_of(item, MemoryRate::norm); });
}

void slow_down(Block& block, MemoryRate rate, double factor) {
  for (Op& op : block.dag.ops) {
    if (rate == MemoryRate::norm && !is_norm(op)) continue;
    slow_down(op.forward, rate, factor);
    slow_down(op.backward, rate, factor);
  }
  for (RecomputeRegion& region : block.regions) slow_down(region.forward, rate, factor);
}

}  // namespace

double scalar_load_factor(MovingKernels kernels) {
  switch (kernels) {
    // microsoft/onnxruntime pull request 16608, a bias and GELU on a V100: with vectors 1.05 times
    // this program's time forward and backward, without 1.21 and 1.26; 4146, GELU's gradient 1.44.
    // Oneflow-Inc/oneflow 3489, a bias on an RTX 2080 Ti: fp16 takes 0.77 of fp32's time, which
    // is 1.53 times half of it. Geometric mean.
    case MovingKernels::elementwise:
    case MovingKernels::dropout:  // derived: no measurement of its own
      return 1.35;
    // apache/mxnet pull request 14935, 8192 rows of 768 and of 1024 elements: fp16 takes 1.07
    // and 1.03 of fp32's time forward, 0.93 and 0.88 backward. Apex's kernel, over this program's
    // time: microsoft/onnxruntime 4351 (V100) 2.31 forward, NVIDIA/apex 1037 (A100) 1.79 and 1.68.
    // Geometric mean of the seven.
    case MovingKernels::norm:
      return 1.93;
    // Oneflow-Inc/oneflow pull request 3496, an RTX 2080 Ti: fp16 takes 0.87 of fp32's time forward
    // and 0.86 backward.
    case MovingKernels::softmax:
      return 1.73;
  }
  throw InternalError("kernels of no class");
}

std::vector<Block> loading_scalars(std::vector<Block> blocks,
                                   const std::vector<MovingKernels>& classes) {
  for (const MovingKernels kernels : classes) {
    const MemoryRate rate = rate_of(kernels);
    for (Block& block : blocks) slow_down(block, rate, scalar_load_factor(kernels));
  }
  return blocks;
}

}  // namespace stepsim
