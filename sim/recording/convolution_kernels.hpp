// Kernels whose names say a product of matrices, and which an operator of convolution launched.
#pragma once

#include <vector>

#include "sim/recording/gpu_time.hpp"
#include "sim/recording/recording.hpp"

namespace stepsim {

/// By activity: whether it is such a kernel. cuDNN makes convolutions of 1 x 1 with kernels of matrix
/// products.
std::vector<bool> products_of_convolutions(const Recording& recording, const KindByName& kinds);

}  // namespace stepsim
