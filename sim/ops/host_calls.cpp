// Numbers of calls, and their times.
//
// Megatron's: NVIDIA/Megatron-LM@b35d061 megatron/model/transformer.py (ParallelTransformerLayer,
// ParallelAttention, CoreAttention, ParallelMLP), and @960c06b megatron/core/tensor_parallel/
// layers.py (ColumnParallelLinear, RowParallelLinear). PyTorch's: BertLayer of
// NVIDIA/DeepLearningExamples@70c51ad PyTorch/LanguageModeling/BERT/modeling.py; what holds a
// module counts with one of those. calib/host/layers.py has copies of both, whose calls
// calib/host/counts.py counts.
#include "sim/ops/host_calls.hpp"

#include "sim/ops/host_cost.hpp"

namespace stepsim {
namespace {

Seconds of(const HostCost& cost, HostPass pass) {
  if (pass == HostPass::forward) return cost.forward;
  return pass == HostPass::no_graph ? cost.no_graph : cost.backward;
}

}  // namespace

HostCalls HostCalls::times(int n) const {
  HostCalls all = *this;
  for (int* number :
       {&all.modules, &all.functions, &all.scripted, &all.forks, &all.views,
        &all.views_in_functions, &all.views_backward, &all.views_in_backward_functions,
        &all.products, &all.layers, &all.engine_linears})
    *number *= n;
  return all;
}

bool has_megatron_layers(const Scenario& scenario) {
  return scenario.training.fusion == Fusion::fused &&
         scenario.training.attention != kEagerAttention;
}

HostCalls norm_calls(bool megatron) {
  if (!megatron) return {};
  return {.functions = 1, .in_functions = true};
}

HostCalls linear_calls(bool megatron, bool engine) {
  // A function for the tensor ranks and one for the products, which transposes the weight and
  // flattens the tokens, and does so again behind. F.linear does both in operators.
  if (megatron)
    return {.functions = 2,
            .views_in_functions = 4,
            .views_in_backward_functions = 5,
            .engine_linears = engine ? 1 : 0,
            .in_functions = true};
  return {.views = 3, .views_backward = 4, .engine_linears = engine ? 1 : 0};
}

HostCalls query_key_value_calls(bool megatron, bool engine) {
  if (megatron) return linear_calls(true, engine);
  HostCalls calls = linear_calls(false, engine).times(3);
  calls.products = 2;
  return calls;
}

HostCalls activation_calls(bool megatron) {
  return {.functions = megatron ? 1 : 0, .scripted = 1, .in_functions = megatron};
}

HostCalls residual_calls(bool megatron) {
  if (megatron) return {.modules = 0, .scripted = 1, .views = 1};
  return {.modules = 2};  // dropout, and what holds it
}

HostCalls attention_calls(bool megatron, bool fused, bool forks) {
  if (!megatron) return {.modules = 4, .views = fused ? 8 : 20, .views_backward = fused ? 0 : 4};
  // The layer, attention, its core; unfused softmax and dropout.
  HostCalls calls{.modules = fused ? 3 : 5, .functions = 1, .forks = forks ? 1 : 0};
  calls.views = fused ? 7 : 16;
  calls.views_backward = fused ? 0 : 4;
  calls.layers = 1;
  return calls;
}

Seconds host_time(const HostCalls& c, int kernels, HostPass pass) {
  const auto all = [&](const HostCost& cost, int number) {
    return of(cost, pass) * static_cast<double>(number);
  };
  Seconds time = all(host_cost::module, c.modules) + all(host_cost::function, c.functions) +
                 all(host_cost::scripted, c.scripted) + all(host_cost::fork, c.forks) +
                 all(host_cost::view, c.views) + all(host_cost::product, c.products) +
                 all(host_cost::between_calls, c.layers);
  if (pass != HostPass::backward)
    return time + host_cost::view.no_graph * static_cast<double>(c.views_in_functions);
  const int nodes = c.views + c.products + (c.in_functions ? 0 : kernels);
  // A product has two gradients.
  return time + all(host_cost::node, nodes) + all(host_cost::view, c.views_backward) +
         all(host_cost::product, c.products) +
         host_cost::view.no_graph * static_cast<double>(c.views_in_backward_functions);
}

Seconds published_time(const HostCalls& c, HostPass pass) {
  if (pass == HostPass::backward) return {};
  return host_published::engine_linear * static_cast<double>(c.engine_linears);
}

}  // namespace stepsim
