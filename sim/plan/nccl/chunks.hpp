// The chunks into which NCCL cuts a message: what one hop has to have before the next can begin.
//
// NVIDIA/nccl v2.30.7 src/enqueue.cc (calcCollChunking), src/transport/nvls.cc and
// src/include/device.h. A ring with Simple works on chunks of four of the eight steps of its buffer
// of 4 MiB, with LL128 and LL on one step of theirs. NVLS and its trees have smaller chunks, the
// smaller the less there is to send. Left out: what users state (NCCL_BUFFSIZE,
// NCCL_NVLS_CHUNKSIZE) and buffers that are registered with NCCL.
#pragma once

#include "sim/plan/nccl/communicator.hpp"
#include "sim/plan/nccl/constants.hpp"

namespace stepsim::nccl {

/// The most payload that a channel of a ring passes on at once.
Bytes ring_chunk(Protocol protocol);

/// What the heads of all channels of NVLS, or of its trees, have in flight when each sends one
/// chunk; `bytes` is the message.
Bytes nvls_turn(const Communicator& communicator, Algorithm algorithm, Bytes bytes);

}  // namespace stepsim::nccl
