// A product of matrices that an operator of recorded sizes asks of the GPU: its FLOPs and kernels.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/ops/work.hpp"
#include "sim/recording/recording.hpp"
#include "sim/scenario/kinds.hpp"

namespace stepsim {

/// What one call of the operator computes.
struct Product {
  std::string
      title;  ///< "4096 x 11008 x 4096", or of a convolution its filter, channels and pixels
  double flops = 0;
  std::vector<Work> works;  ///< its kernels, for the GPU's profile; empty: it has none for them
};

/// Edges of the output of convolutions, by the sizes of input and filter. A forward pass does not
/// record them, and its backward pass does.
using OutputEdges = std::map<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>,
                             std::vector<std::int64_t>>;
OutputEdges output_edges(const Recording& recording);

/// Whether the operator is one that asks for a product, by its name: "aten::mm".
bool is_product(std::string_view operation);

/// Type in which the operator's tensors are multiplied; a tensor of float may be multiplied as tf32,
/// which the name of the kernel says (product_type.hpp). Absent: no type of GPU profiles.
std::optional<Precision> precision_of(const RecordedShape& shape, std::string_view kernel);

/// The operator's product. FLOPs of attention are those without a mask, of which sizes do not tell.
/// Absent: the sizes are none of such an operator, or do not say how much is computed.
std::optional<Product> product_of(std::string_view operation, const RecordedShape& shape,
                                  Precision precision, const OutputEdges& edges);

}  // namespace stepsim
