// What a collective takes from the kernels that run beside it: SMs and memory bandwidth.
//
// NCCL runs one CTA a channel, each on an SM of its own for the whole collective (NVIDIA/nccl issue
// 689), and drops channels where a message gives one less than 512 threads x 64 B (src/enqueue.cc,
// Simple protocol). Each byte that passes a rank is read and written in its memory: a gather step
// reads the buffer it got and writes the result (2 bytes a link byte), a reduction step also reads
// its own operand (3). A device that moves its messages itself, as a core does, takes a share of
// its whole time for that instead.
#pragma once

#include "sim/plan/plan.hpp"

namespace stepsim {

/// Bytes that a ring moves through one rank's memory.
Bytes memory_traffic(CollectiveOp op, Bytes bytes, int ranks);

/// Sets the operation's shares from its size, its memory traffic and its uncontended time.
void take_resources(Operation& operation, Bytes traffic, const Cluster& cluster);

/// The factor by which a kernel is slower beside operations that hold these shares.
double slowdown(const Kernel& kernel, double held_sms, double memory_share,
                double device_share = 0);

}  // namespace stepsim
