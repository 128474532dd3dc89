// Batch norm in training, with the residual addition and the ReLU behind it.
//
// The statistics need all images before the first can be normalised, so the input is read twice:
// three passes over the images forward, and backward five (sums over input and gradient, then the
// input's gradient from both). The ReLU works in place: its output is the next layer's input, its
// backward pass reads that and the gradient. Fused, it keeps one bit an element instead.
//
// Convolutions may take it in: the one before sums what it writes, a kernel makes a scale and a
// bias a channel of the sums, and what reads it next applies both, with the ReLU. That keeps what
// it read itself, normalises it again for the gradient of its weights, and the norm's backward
// pass is as without (cuDNN CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS and _WGRAD, as MXNet
// launches them in Forward and Backward of src/operator/nn/cudnn/
// cudnn_normalized_convolution-inl.h).
//
// Both kernels are cuDNN's: PyTorch takes them in training for all images that are not bf16
// (pytorch/pytorch aten/src/ATen/native/Normalization.cpp, _select_batch_norm_backend). Counted in
// these passes, those for NHWC move 0.78 TB/s on a V100 and 1.3 on an A100-40, as element-wise
// kernels do (xwang233/code-snippet@a9840ad:batchnorm3d-channels-last).
#include "sim/ops/layer/image_layers.hpp"

namespace stepsim {
namespace {

constexpr double kBitsPerByte = 8;

/// Bytes of one channel: sums, parameters and running statistics, read and written, in fp32.
constexpr double kStatistics = 12 * 4;

/// `mask`: bytes of a bit an element.
void add_fused(Op& op, const std::string& name, double one, double mask, const NormUse& use) {
  const double other = use.addition ? one : 0;  // the residual, and its gradient
  const double bits = use.applied ? mask : 0;   // without them the ReLU is seen from what is kept
  const double sums = use.summed ? 0 : one;
  if (use.summed)
    op.forward.emplace_back(memory_bound(name + " statistics", kStatistics * op.statistics));
  if (use.applied) op.forward.emplace_back(memory_bound(name, sums + 2 * one + other + bits));
  op.backward.emplace_back(memory_bound(name + " backward", 5 * one + other + bits));
  op.saved += Bytes{bits};
}

void add_separate(Op& op, const std::string& name, double one, const NormUse& use,
                  MemoryRate rate) {
  op.forward.emplace_back(memory_bound(name, 3 * one, rate));
  if (use.addition) op.forward.emplace_back(memory_bound(name + " addition", 3 * one));
  if (use.relu) {
    op.forward.emplace_back(memory_bound(name + " ReLU", 2 * one));
    op.backward.emplace_back(memory_bound(name + " ReLU backward", 3 * one));
  }
  op.backward.emplace_back(memory_bound(name + " backward", 5 * one, rate));
}

}  // namespace

Op batch_norm(const Pass& pass, const std::string& name, const Images& images, const NormUse& use) {
  const double one = pass.element() * images.elements();
  const auto channels = static_cast<double>(images.channels);
  Op op;
  op.name = name;
  op.parameters = {channels, channels};
  op.statistics = channels;
  op.output = Bytes{one};
  op.saved = Bytes{one + 2 * 4 * channels};  // images, and the mean and the deviation in fp32
  if (use.fused && (use.relu || !use.applied)) {
    add_fused(op, name, one, images.elements() / kBitsPerByte, use);
  } else {
    const bool by_cudnn = pass.precision != Precision::bf16;
    add_separate(op, name, one, use, by_cudnn ? MemoryRate::elementwise : MemoryRate::norm);
  }
  for (const double tensor : op.parameters) {
    add_gradient_sum(op.backward, pass, name, tensor);
    op.backward.emplace_back(GradientReady{tensor});
  }
  return op;
}

}  // namespace stepsim
