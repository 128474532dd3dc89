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

/// What the GPUs, the network or the release lack, whatever the group.
std::string lacking(const Communicator& communicator, Algorithm algorithm);

/// Against the algorithm with that protocol.
std::string protocol_refusal(const Communicator& communicator, Algorithm algorithm,
                             Protocol protocol);

/// That, and what the op and the shape of the group have against it.
std::string refusal(const Communicator& communicator, CollectiveOp op, Algorithm algorithm);

}  // namespace stepsim::nccl
