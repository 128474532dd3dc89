// The layers of convolutional networks: each function returns one op for images of one data rank.
//
// Byte counts are those of the kernels that PyTorch launches eagerly, as in layers.hpp. Checked
// against the operator times of ResNet-50 on an H100 (sarchlab/triosim@3fb3c06
// sample_trace/trace2-h100-bs128): with these counts batch norm moves 2.1 TB/s forward and 1.8
// backward, ReLU 3.1 in both directions, which is what `norm` and `elementwise` of that GPU say.
#pragma once

#include <cstdint>
#include <string>

#include "sim/ops/layer/layers.hpp"

namespace stepsim {

/// An activation: `batch` square images.
struct Images {
  std::int64_t batch = 1, channels = 0;
  std::int64_t edge = 0;  ///< pixels
  double elements() const { return static_cast<double>(batch * channels * edge * edge); }
};

struct Filter {
  std::int64_t out_channels = 0;
  std::int64_t width = 1;
  std::int64_t stride = 1;
  std::int64_t groups = 1;  ///< groups of channels, each convolved by itself
};

/// What a convolution's neighbours make of it.
struct ConvolutionUse {
  bool saves_input = true;  ///< no other layer keeps the same images already
  bool wants_input_gradient = true;
  /// true: another branch has brought a gradient of the same images
  bool adds_input_gradient = false;
};

/// A convolution without bias. In layout nchw tensor cores work on transposed copies.
Op convolution(const Pass& pass, const std::string& name, const Images& in, const Filter& filter,
               Layout layout, const ConvolutionUse& use = {});

/// Images that a filter of that stride leaves.
Images convolved(const Images& in, const Filter& filter);

/// Batch norm over the images of this rank, with what follows it.
struct NormUse {
  bool relu = true;
  bool addition = false;  ///< true: a residual is added before the ReLU
  /// true: norm, addition and ReLU are one kernel (cuDNN CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION)
  bool fused = false;
  bool summed = false;  ///< fused: by the convolution before it, on its way out
  bool applied = true;  ///< fused; false: on its way in by what reads it, with the ReLU
};
Op batch_norm(const Pass& pass, const std::string& name, const Images& images, const NormUse& use);

/// 3x3, stride 2; keeps its input, which is a ReLU's output, and the places of the maxima.
Op max_pool(const Pass& pass, const Images& in);

/// The mean of each channel; keeps its input for the ReLU before it.
Op average_pool(const Pass& pass, const Images& in);

}  // namespace stepsim
