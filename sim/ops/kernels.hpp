// Building blocks of what an op launches: kernels that move bytes.
#pragma once

#include <initializer_list>
#include <string>

#include "sim/ops/op_graph.hpp"

namespace stepsim {

/// A kernel that moves so many bytes, at the rate of its kind.
Launch memory_bound(const std::string& name, double bytes,
                    MemoryRate rate = MemoryRate::elementwise);
/// The memory-bound kernel as one that comes back to so many bytes, in rows of so many.
Launch coming_back(Launch launch, double bytes, double row);
/// The kernel as one that only gradients of parameters need.
Launch for_weights(Launch launch);

/// Adds kernels of one name behind one another: each moves as many bytes as so many `tensors` of
/// `one` have.
void add_steps(Items& items, const char* name, double one, std::initializer_list<int> tensors);

/// Adds the second items behind the first.
void append(Items& items, const Items& more);

}  // namespace stepsim
