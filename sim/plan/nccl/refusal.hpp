// Why NCCL does not consider an algorithm or a protocol for a group.
#pragma once

#include <string>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/nccl/communicator.hpp"
#include "sim/plan/nccl/constants.hpp"

namespace stepsim::nccl {

/// The end of a sentence that begins with the algorithm's name: "needs ..."; empty where it can.
/// NVIDIA/nccl v2.30.7 src/graph/tuning.cc (algoEnable, protoEnable) and src/transport/nvls.cc.
std::string refusal(const Communicator& communicator, CollectiveOp op, Algorithm algorithm);

/// The same for the algorithm with that protocol.
std::string refusal(const Communicator& communicator, CollectiveOp op, Algorithm algorithm,
                    Protocol protocol);

}  // namespace stepsim::nccl
