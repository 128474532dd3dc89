// OneFlow of 2020: one kernel an operation, each of which loads 16-bit tensors one element at a
// time.
//
// Its list of what stays in fp32 is empty
// (oneflow/core/job_rewriter/auto_mixed_precision_lists.cpp).
#include "sim/core/registry.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

const Registered<Style> oneflow{[] {
  Style style = eager_style();
  style.name = "oneflow";
  style.description = "OneFlow of 2020: 16-bit tensors loaded one element at a time";
  style.scalar_loads = {MovingKernels::elementwise, MovingKernels::dropout, MovingKernels::norm,
                        MovingKernels::softmax};
  return style;
}()};

}  // namespace
}  // namespace stepsim
