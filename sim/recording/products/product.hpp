// A product of matrices that an operator of recorded sizes asks of the GPU: its FLOPs and kernels.
//
// A multiplication with its addition is two FLOPs. A convolution has one for each element of its
// output and of the filter's window and channels; each of its gradients costs as much as the forward
// pass (sim/ops/work.hpp). Attention has two products forward and five backward
// (FlashAttention, arXiv 2205.14135).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/ops/work.hpp"
#include "sim/recording/products/product_operators.hpp"
#include "sim/recording/recording.hpp"
#include "sim/scenario/kinds.hpp"

namespace stepsim {

/// What one call of the operator computes.
struct Product {
  std::string title;  ///< "4096 x 11008 x 4096" (m x n x k), "3x3/2, 64-128, 32 of 56x56"
  Flops flops;
  std::vector<Work> works;  ///< its kernels, for the GPU's profile; empty: it has none for them
};

/// Spatial sizes of the output of convolutions, by the sizes of input and filter. A forward pass does
/// not record them, and its backward pass does. Empty: several strides have the same sizes.
using Sizes = std::vector<std::int64_t>;
using OutputSizes = std::map<std::pair<Sizes, Sizes>, Sizes>;
OutputSizes output_sizes(const Recording& recording);

/// Type in which the operator's tensors are multiplied; a tensor of float may be multiplied as tf32,
/// which the name of the kernel says (product_type.hpp). Absent: no type of GPU profiles.
std::optional<Precision> precision_of(const RecordedShape& shape, std::string_view kernel);

/// The operator's product. FLOPs of attention are those without a mask, of which sizes do not tell.
/// Absent: the sizes do not say how much is computed.
std::optional<Product> product_of(const ProductOperator& operation, const RecordedShape& shape,
                                  Precision precision, const OutputSizes& outputs);

}  // namespace stepsim
