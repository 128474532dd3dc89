// Operations that are written in elementary ones, each of which is a kernel: composed.cpp has the
// list.
#pragma once

#include "sim/ops/style/style.hpp"

namespace stepsim {

/// LayerNorm of moments. `one`: bytes of its input.
void composed_norm(Op& op, const Pass& pass, const NormShape& shape);
/// GELU by its tanh; a gated activation is as in eager PyTorch.
ActivationKernels composed_activation(const std::string& name, double one, bool gated);
DropoutKernels composed_dropout();
RowSoftmax composed_row_softmax();

}  // namespace stepsim
