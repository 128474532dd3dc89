// Kernels that load 16-bit tensors one element at a time, as those of libraries did until about
// 2020.
#pragma once

#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {

/// What such kernels take over those that load a vector at once, whose rates profiles have.
double scalar_load_factor(MovingKernels kernels);

/// The blocks of a model in 16 bits whose kernels of these classes are such.
std::vector<Block> loading_scalars(std::vector<Block> blocks,
                                   const std::vector<MovingKernels>& classes);

}  // namespace stepsim
