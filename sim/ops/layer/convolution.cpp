// Convolutions: forward, gradient of the input, gradient of the weights, and the copies around them
// on tensor cores: transposes in layout nchw, padding of images with too few channels.
//
// NVIDIA, Convolutional Layers User's Guide, "Tensor Layouts in Memory": tensor cores work on NHWC;
// NCHW tensors are transposed before and after. Each kernel has two tensors of images to transpose,
// each one read and one write; the transpose of an image with too few channels pads it on its way,
// in layout nhwc that is a copy of its own.
#include "sim/ops/layer/image_layers.hpp"
#include "sim/scenario/channel_padding.hpp"

namespace stepsim {
namespace {

struct Kernels {
  Kernels(const Pass& pass, const Images& in, const Filter& filter, Layout layout)
      : work{.batch = in.batch,
             .in_channels =
                 filter.groups * padded_channels(pass.precision, in.channels / filter.groups),
             .out_channels = filter.out_channels,
             .image = in.edge,
             .filter = filter.width,
             .stride = filter.stride,
             .precision = pass.precision,
             .groups = filter.groups,
             .autotuned = pass.training->convolution_autotuning} {
    const double input = pass.element() * in.elements();
    const double output = pass.element() * convolved(in, filter).elements();
    const double padded = pass.element() * Images{in.batch, work.in_channels, in.edge}.elements();
    if (layout == Layout::nchw && work.computed() != Precision::fp32) {
      copy = {" transposes", input + padded + 2 * output, padded + output};
    } else if (padded > input) {
      copy = {" padding", input + padded, padded};
    }
  }

  Launch launch(const std::string& name, ConvolutionPass pass) const {
    Convolution convolution = work;
    convolution.pass = pass;
    return {name, convolution, pass == ConvolutionPass::weight_gradient};
  }

  void add(Items& items, const std::string& name, ConvolutionPass pass) const {
    if (copy.moved > 0) {
      Launch copies = memory_bound(name + copy.name, copy.moved);
      copies.for_weights = pass == ConvolutionPass::weight_gradient;
      items.emplace_back(copies);
    }
    items.emplace_back(launch(name, pass));
  }

  /// What goes before each kernel, if anything.
  struct Copy {
    const char* name = "";
    double moved = 0, written = 0;  ///< bytes
  };

  Convolution work;
  Copy copy;
};

/// Padding is no work of the model.
Flops model_flops(Convolution work, std::int64_t channels) {
  work.in_channels = channels;
  return work.flops();
}

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
  const std::int64_t of_group = in.channels / filter.groups;
  op.parameters = {
      static_cast<double>(of_group * filter.out_channels * filter.width * filter.width)};
  op.flops = model_flops(kernels.work, in.channels);
  op.output = Bytes{pass.element() * convolved(in, filter).elements()};
  op.scratch = Bytes{kernels.copy.written};
  if (use.saves_input) op.saved = Bytes{input};
  kernels.add(op.forward, name, ConvolutionPass::forward);
  if (use.wants_input_gradient) {
    kernels.add(op.backward, name + " dgrad", ConvolutionPass::input_gradient);
    if (use.adds_input_gradient)
      op.backward.emplace_back(memory_bound(name + " sum of gradients", 3 * input));
  }
  kernels.add(op.backward, name + " wgrad", ConvolutionPass::weight_gradient);
  add_gradient_sum(op.backward, pass, name, op.parameters.front());
  op.backward.emplace_back(GradientReady{op.parameters.front()});
  return op;
}

}  // namespace stepsim
