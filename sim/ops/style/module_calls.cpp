// Calls of a layer's modules, as they are counted.
//
// Megatron-LM's: NVIDIA/Megatron-LM@b35d061 megatron/model/transformer.py
// (ParallelTransformerLayer, ParallelAttention, CoreAttention, ParallelMLP), and @960c06b
// megatron/core/tensor_parallel/layers.py (ColumnParallelLinear, RowParallelLinear). PyTorch's:
// BertLayer of NVIDIA/DeepLearningExamples@70c51ad PyTorch/LanguageModeling/BERT/modeling.py; what
// holds a module counts with one of those. calib/host/layers.py has copies of both, whose calls
// calib/host/counts.py counts.
#include "sim/ops/style/module_calls.hpp"

namespace stepsim {

ModuleCalls torch_modules() {
  return {.norm = {},
          .linear = {.views = 3, .views_backward = 4},
          .activation = {.scripted = 1},
          .residual = {.modules = 2},  // dropout, and what holds it
          .query_key_value_modules = 3,
          .attention = [](bool fused, bool /*forks*/) -> HostCalls {
            return {.modules = 4, .views = fused ? 8 : 20, .views_backward = fused ? 0 : 4};
          }};
}

ModuleCalls megatron_modules() {
  return {.norm = {.functions = 1, .in_functions = true},
          // A function for the tensor ranks and one for the products, which transposes the weight
          // and flattens the tokens, and does so again behind. F.linear does both in operators.
          .linear = {.functions = 2,
                     .views_in_functions = 4,
                     .views_in_backward_functions = 5,
                     .in_functions = true},
          .activation = {.functions = 1, .scripted = 1, .in_functions = true},
          .residual = {.modules = 0, .scripted = 1, .views = 1},
          // The layer, attention, its core; unfused softmax and dropout.
          .attention = [](bool fused, bool forks) -> HostCalls {
            return {.modules = fused ? 3 : 5,
                    .functions = 1,
                    .forks = forks ? 1 : 0,
                    .views = fused ? 7 : 16,
                    .views_backward = fused ? 0 : 4,
                    .layers = 1};
          },
          .has_hooks = true};
}

}  // namespace stepsim
