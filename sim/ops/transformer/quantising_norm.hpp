// Norms that write fp8, for the one linear layer that reads them.
#pragma once

#include "sim/ops/op_graph.hpp"

namespace stepsim {

struct Pass;

/// With delayed scaling the norm of Transformer Engine's LayerNormLinear writes its output in fp8,
/// and no kernel casts it; where weights' gradients need the other layout, the backward pass
/// transposes it. It does not where anything else reads the output: an adapter, a router, a second
/// linear layer (NVIDIA/TransformerEngine@v1.8 and @d0067d0
/// transformer_engine/pytorch/module/layernorm_linear.py, with_quantized_norm;
/// pytorch/csrc/extensions/normalization.cpp, FULLY_FUSED). Other recipes look for the largest
/// value first, or have a kernel of their own. Of layers whose norms come first.
void quantise_in_norms(OpDag& dag, const Pass& pass);

}  // namespace stepsim
