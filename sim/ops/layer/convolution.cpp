// Convolutions: forward, gradient of the input, gradient of the weights, and the transposes that
// layout nchw costs on tensor cores.
//
// NVIDIA, Convolutional Layers User's Guide, "Tensor Layouts in Memory": tensor cores work on NHWC;
// NCHW tensors are transposed before and after. Each kernel has two tensors of images to transpose,
// each one read and one write.
#include "sim/ops/layer/image_layers.hpp"

namespace stepsim {
namespace {

struct Kernels {
  Kernels(const Pass& pass, const Images& in, const Filter& filter, Layout layout)
      : work{.batch = in.batch,
             .in_channels = in.channels,
             .out_channels = filter.out_channels,
             .image = in.edge,
             .filter = filter.width,
             .stride = filter.stride,
             .precision = pass.precision} {
    const bool tensor_cores = work.computed() != Precision::fp32;
    const double both = pass.element() * (in.elements() + convolved(in, filter).elements());
    transposed = layout == Layout::nchw && tensor_cores ? 2 * both : 0;
  }

  Launch launch(const std::string& name, ConvolutionPass pass) const {
    Convolution convolution = work;
    convolution.pass = pass;
    return {name, convolution, pass == ConvolutionPass::weight_gradient};
  }

  void add(Items& items, const std::string& name, ConvolutionPass pass) const {
    if (transposed > 0) {
      Launch transposes = memory_bound(name + " transposes", transposed);
      transposes.for_weights = pass == ConvolutionPass::weight_gradient;
      items.emplace_back(transposes);
    }
    items.emplace_back(launch(name, pass));
  }

  Convolution work;
  double transposed;  ///< bytes
};

}  // namespace

Images convolved(const Images& in, const Filter& filter) {
  return {in.batch, filter.out_channels, (in.edge - 1) / filter.stride + 1};
}

Op convolution(const Pass& pass, const std::string& name, const Images& in, const Filter& filter,
               Layout layout, const ConvolutionUse& use) {
  const Kernels kernels(pass, in, filter, layout);
  const double input = pass.element() * in.elements();
  Op op;
  op.name = name;
  op.parameters = {
      static_cast<double>(in.channels * filter.out_channels * filter.width * filter.width)};
  op.flops = kernels.work.flops();
  op.output = Bytes{pass.element() * convolved(in, filter).elements()};
  op.scratch = Bytes{kernels.transposed / 2};  // what is written of it
  if (use.saves_input) op.saved = Bytes{input};
  kernels.add(op.forward, name, ConvolutionPass::forward);
  if (use.wants_input_gradient) {
    kernels.add(op.backward, name + " dgrad", ConvolutionPass::input_gradient);
    if (use.adds_input_gradient)
      op.backward.emplace_back(memory_bound(name + " sum of gradients", 3 * input));
  }
  kernels.add(op.backward, name + " wgrad", ConvolutionPass::weight_gradient);
  op.backward.emplace_back(GradientReady{op.parameters.front()});
  return op;
}

}  // namespace stepsim
