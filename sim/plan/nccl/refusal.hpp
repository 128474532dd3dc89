// Why NCCL does not consider an algorithm or a protocol for a group.
//
// NVIDIA/nccl v2.30.7 src/graph/tuning.cc (algoEnable, protoEnable) and src/transport/nvls.cc. Each
// answer is the end of a sentence that begins with the algorithm's name; empty where there is
// nothing against it.
#pragma once

#include <string>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/nccl/communicator.hpp"
#include "sim/plan/nccl/constants.hpp"

namespace stepsim::nccl {

/// What the GPUs, the network or the release lack for the algorithm, in any group.
std::string lacking(const Communicator& communicator, Algorithm algorithm);

/// What speaks against the algorithm with that protocol.
std::string protocol_refusal(const Communicator& communicator, Algorithm algorithm,
                             Protocol protocol);

/// Why NCCL does not consider the algorithm: what is lacking in any group (see lacking), or what
/// the op and the shape of the group have against it.
std::string refusal(const Communicator& communicator, CollectiveOp op, Algorithm algorithm);

}  // namespace stepsim::nccl
