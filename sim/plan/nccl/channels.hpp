// How many channels a kernel of NCCL runs on: each is one thread block, which holds an SM.
//
// NVIDIA/nccl v2.30.7. A communicator has twice the channels that the search found
// (src/graph/connect.cc, ncclTopoPostset), as many for rings as for trees, CollNet and PAT, and
// prints them in its log: "16 coll channels". NVLS has channels of its own (src/transport/nvls.cc).
// A small message of a ring or a tree runs on fewer, so that each thread has its share
// (src/enqueue.cc, topoGetAlgoInfo). Left out: CollNet's own rule for small messages, communicators
// that share the channels of a parent, buffers that are registered with NCCL, and what users state
// (NCCL_MIN_CTAS and NCCL_MAX_CTAS).
#pragma once

#include "sim/ops/op_graph.hpp"
#include "sim/plan/nccl/communicator.hpp"
#include "sim/plan/nccl/constants.hpp"

namespace stepsim::nccl {

/// The channels of a communicator for messages of any size: the first figure of its log for rings
/// and trees, the third for NVLS.
int most_channels(const Communicator& communicator, Algorithm algorithm);

/// The channels that a message of so many bytes runs on; the bytes are nccl-tests' sizes.
int channels(const Communicator& communicator, CollectiveOp op, Algorithm algorithm,
             Protocol protocol, Bytes bytes);

/// The channels that an all-to-all or a shift runs on. Channels for pairs are a power of two (the
/// fourth figure of the log). As many serve each peer as there are for all, two over the network,
/// and half as many again and again until all peers have some (src/graph/paths.cc,
/// ncclTopoComputeP2pChannels; src/enqueue.cc, addP2pToPlan).
int pair_channels(const Communicator& communicator, CollectiveOp op);

}  // namespace stepsim::nccl
