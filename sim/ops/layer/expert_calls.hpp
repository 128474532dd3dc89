// What the host calls for a layer of experts besides operators that launch kernels.
#pragma once

#include <cstdint>

#include "sim/ops/host_calls.hpp"
#include "sim/ops/layer/layers.hpp"

namespace stepsim {

/// The router's module and functions.
HostCalls router_calls(const Pass& pass);
/// What takes tokens to the ranks of their experts; `local`: experts of a rank.
HostCalls dispatch_calls(const Pass& pass, std::int64_t local);
/// What brings the experts' outputs back.
HostCalls combine_calls(const Pass& pass, std::int64_t local);
/// Two linear layers of all experts of a rank, and the activation between them.
HostCalls expert_calls(const Pass& pass, std::int64_t local);

}  // namespace stepsim
