// Calls of Megatron-LM's layer of experts, as they are counted.
//
// NVIDIA/Megatron-LM@d98e8a64 megatron/core/transformer/moe: router.py, token_dispatcher.py,
// fused_a2a.py, experts.py (TEGroupedMLP); NVIDIA/TransformerEngine@d0067d0
// transformer_engine/pytorch/module/grouped_linear.py and csrc/extensions (gemm.cpp, cast.cpp);
// deepseek-ai/DeepEP, branch hybrid-ep, csrc/hybrid_ep/executor. Other frameworks' have one module
// an op, as ops have by default.
#include "sim/ops/layer/expert_calls.hpp"

namespace stepsim {
namespace {

int parts(const Pass& pass) { return pass.place.keeps_placeholders ? 1 : 0; }

}  // namespace

HostCalls router_calls(const Pass& pass) {
  if (!pass.megatrons_experts) return {};
  // Fused: scores, the top k, scores of the auxiliary loss, that loss, and what scales it. Else
  // scores and what scales the loss: the others are operators.
  return {.functions = pass.experts.router_fusion ? 5 : 2,
          .views = 2,
          .engine_parts = parts(pass),
          .in_functions = pass.experts.router_fusion};
}

HostCalls dispatch_calls(const Pass& pass, std::int64_t local) {
  if (!pass.megatrons_experts) return {};
  // The layer's module. A function each for a permutation, an exchange and a sort.
  HostCalls calls{.views = 3, .engine_parts = parts(pass), .in_functions = true};
  const bool alone = pass.experts.degree == 1;
  switch (pass.experts.dispatcher) {
    case Dispatcher::all_to_all:
      calls.functions = alone ? 1 : local > 1 ? 4 : 3;
      break;
    case Dispatcher::all_gather:
      calls.functions = alone ? 1 : 4;
      break;
    case Dispatcher::deepep:  // layout and rows
      calls.functions = 2;
      calls.views_in_functions = 12;
      calls.views_in_backward_functions = 6;
      break;
    case Dispatcher::hybrid_ep:  // eleven tensors of where rows go, rows and probabilities
      calls.functions = 1;
      calls.views_in_functions = 13;
      calls.views_in_backward_functions = 5;
      break;
  }
  return calls;
}

HostCalls combine_calls(const Pass& pass, std::int64_t local) {
  if (!pass.megatrons_experts) return {};
  HostCalls calls{.modules = 0, .views = 2, .in_functions = true};
  const bool alone = pass.experts.degree == 1;
  switch (pass.experts.dispatcher) {
    case Dispatcher::all_to_all:
      calls.functions = alone ? 1 : local > 1 ? 3 : 2;
      break;
    case Dispatcher::all_gather:
      calls.functions = alone ? 1 : 2;
      break;
    case Dispatcher::deepep:
      calls.functions = 2;
      calls.views_in_functions = calls.views_in_backward_functions = 6;
      break;
    case Dispatcher::hybrid_ep:
      calls.functions = 1;
      calls.views_in_functions = calls.views_in_backward_functions = 5;
      break;
  }
  return calls;
}

HostCalls expert_calls(const Pass& pass, std::int64_t local) {
  if (!pass.megatrons_experts || !pass.place.keeps_placeholders) return {};
  // The MLP, its linear layers, and the activation, which is a function around scripted ones. What
  // C++ takes for each expert is in moe.cpp.
  return {.modules = 3,
          .functions = 3,
          .scripted = 1,
          .engine_linears = 2,
          .engine_parts = 1,
          .engine_weights = 2 * static_cast<int>(local - 1),
          .in_functions = true};
}

}  // namespace stepsim
