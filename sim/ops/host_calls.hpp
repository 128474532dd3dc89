// What eager PyTorch calls on the host besides the operators that launch kernels.
//
// style/module_calls.cpp has the numbers of calls, host_cost.hpp what a call takes.
#pragma once

#include "sim/core/quantity.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// The calls of an op besides the kernels that it launches.
struct HostCalls {
  int modules = 1;
  int functions = 0;           ///< Python functions of autograd
  int scripted = 0;            ///< calls of scripted functions, in each direction
  int forks = 0;               ///< forks of a tracker of random states
  int views = 0;               ///< recorded
  int views_in_functions = 0;  ///< forward
  int views_backward = 0;      ///< views that nodes make besides undoing a view
  int views_in_backward_functions = 0;
  int products = 0;           ///< products that the op has as one kernel with others
  int layers = 0;             ///< layers of Megatron-LM's own modules, with Python between calls
  int engine_linears = 0;     ///< linear modules that are Transformer Engine's
  int engine_layers = 0;      ///< layers of Megatron Core around Transformer Engine's modules
  int engine_parts = 0;       ///< router, dispatcher, experts of Megatron Core
  int engine_weights = 0;     ///< weights of experts in a module beyond its first
  bool in_functions = false;  ///< true: the op's kernels are launched within functions

  HostCalls times(int n) const;
  HostCalls& operator+=(const HostCalls& other);
};

enum class HostPass { forward, no_graph, backward };

/// The time of an op's calls; `kernels`: those that its forward pass launches.
Seconds host_time(const HostCalls& calls, int kernels, HostPass pass);

}  // namespace stepsim
