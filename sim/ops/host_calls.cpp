// What calls take: their numbers times what one of each takes.
#include "sim/ops/host_calls.hpp"

#include <array>

#include "sim/ops/host_cost.hpp"

namespace stepsim {
namespace {

constexpr std::array kNumbers{&HostCalls::modules,        &HostCalls::functions,
                              &HostCalls::scripted,       &HostCalls::forks,
                              &HostCalls::views,          &HostCalls::views_in_functions,
                              &HostCalls::views_backward, &HostCalls::views_in_backward_functions,
                              &HostCalls::products,       &HostCalls::layers,
                              &HostCalls::engine_linears, &HostCalls::engine_layers,
                              &HostCalls::engine_parts,   &HostCalls::engine_weights};

Seconds of(const HostCost& cost, HostPass pass) {
  if (pass == HostPass::forward) return cost.forward;
  return pass == HostPass::no_graph ? cost.no_graph : cost.backward;
}

}  // namespace

HostCalls HostCalls::times(int n) const {
  HostCalls all = *this;
  for (int HostCalls::*number : kNumbers) all.*number *= n;
  return all;
}

HostCalls& HostCalls::operator+=(const HostCalls& other) {
  for (int HostCalls::*number : kNumbers) this->*number += other.*number;
  return *this;
}

Seconds host_time(const HostCalls& c, int kernels, HostPass pass) {
  const auto all = [&](const HostCost& cost, int number) {
    return of(cost, pass) * static_cast<double>(number);
  };
  Seconds time =
      all(host_cost::module, c.modules) + all(host_cost::function, c.functions) +
      all(host_cost::scripted, c.scripted) + all(host_cost::fork, c.forks) +
      all(host_cost::view, c.views) + all(host_cost::product, c.products) +
      all(host_cost::between_calls, c.layers) + all(host_cost::engine_linear, c.engine_linears) +
      all(host_cost::engine_layer, c.engine_layers) + all(host_cost::engine_part, c.engine_parts) +
      all(host_cost::engine_weight, c.engine_weights);
  if (pass != HostPass::backward)
    return time + host_cost::view.no_graph * static_cast<double>(c.views_in_functions);
  const int nodes = c.views + c.products + (c.in_functions ? 0 : kernels);
  // A product has two gradients.
  return time + all(host_cost::node, nodes) + all(host_cost::view, c.views_backward) +
         all(host_cost::product, c.products) +
         host_cost::view.no_graph * static_cast<double>(c.views_in_backward_functions);
}

}  // namespace stepsim
