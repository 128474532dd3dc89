// MXNet's ResNet-50 of NVIDIA, in DeepLearningExamples and MLPerf.
//
// Multi-precision updates read 16-bit gradients, scale them back and write 16-bit weights in their
// kernel (apache/mxnet src/operator/optimizer_op-inl.h). Parameters of batch norms stay fp32, so
// that their gradients are reduced by a collective of their own, as Horovod joins those of one type
// (horovod/horovod horovod/common/controller.cc, FuseResponses); other traffic of theirs is counted
// as that of the rest.
#include "sim/core/registry.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

const Registered<Style> mxnet{[] {
  Style style = fused_style();
  style.name = "mxnet";
  style.description = "MXNet, ResNet-50: the update casts, batch norms stay fp32";
  style.casts_in_update = true;
  style.reduces_batch_norms_apart = true;
  return style;
}()};

}  // namespace
}  // namespace stepsim
