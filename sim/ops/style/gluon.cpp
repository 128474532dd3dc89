// BERT of GluonNLP on MXNet before 1.7: one kernel an operation, of which all but the softmax load
// 16-bit tensors one element at a time (vectors came with apache/mxnet pull request 17767).
#include "sim/core/registry.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

const Registered<Style> gluon{[] {
  Style style = eager_style();
  style.name = "gluon";
  style.description = "GluonNLP on MXNet before 1.7: 16-bit tensors loaded one element at a time";
  style.scalar_loads = {MovingKernels::elementwise, MovingKernels::dropout, MovingKernels::norm};
  return style;
}()};

}  // namespace
}  // namespace stepsim
