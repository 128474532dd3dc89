// What NCCL 2.4 runs a message on: sizes decide, where later releases compare costs (cost.hpp).
//
// NVIDIA/nccl v2.4.8: trees up to a size (src/init.cc, ncclTreeThreshold); LL up to so many bytes a
// thread, for which blocks and channels are added one after the other (src/enqueue.cc,
// getKernelInfo; constants in src/include/enqueue.h and core.h). That release has no LL128, and its
// blocks have 256 threads over NVLink. Left out: what users state (NCCL_TREE_THRESHOLD and its
// like).
#pragma once

#include "sim/ops/op_graph.hpp"
#include "sim/plan/nccl/communicator.hpp"
#include "sim/plan/nccl/constants.hpp"

namespace stepsim::nccl::thresholds {

/// The size up to which all-reduces go by trees: where a tree's latency, of fewer hops, makes up
/// for a ring's bandwidth. 0 in one node; infinite over two nodes, where a tree has twice the
/// bandwidth.
Bytes of_tree(const Communicator& communicator);

Algorithm algorithm(const Communicator& communicator, CollectiveOp op, Bytes bytes);

/// The protocol of a message: LL or Simple.
Protocol protocol(const Communicator& communicator, CollectiveOp op, Algorithm algorithm,
                  Bytes bytes);

/// The channels that an LL message runs on. Simple has all channels.
int ll_channels(const Communicator& communicator, CollectiveOp op, Algorithm algorithm,
                Bytes bytes);

}  // namespace stepsim::nccl::thresholds
