// What a collective takes from the kernels that run beside it: SMs and memory bandwidth.
//
// NCCL runs one thread block a channel, each on an SM of its own for the whole collective
// (NVIDIA/nccl issue 689); how many channels there are stands in sim/plan/nccl/channels.hpp. Each
// byte that passes a rank is read and written in its memory: a gather step reads the buffer it got
// and writes the result (2 bytes a link byte), a reduction step also reads its own operand (3). A
// device that moves its messages itself, as a core does, takes a share of its whole time for that
// instead.
#pragma once

#include "sim/plan/plan.hpp"

namespace stepsim {

/// Shares of a rank's SMs, memory bandwidth and whole device that operations beside the kernels
/// take.
struct Taken {
  double held_sms = 0;      ///< SMs that kernels do not know to be taken: some blocks wait
  double reserved_sms = 0;  ///< kernels have as many blocks as there are other SMs
  double memory_share = 0;
  double device_share = 0;
  bool operator==(const Taken&) const = default;
  friend Taken operator*(double times, const Taken& taken) {
    return {times * taken.held_sms, times * taken.reserved_sms, times * taken.memory_share,
            times * taken.device_share};
  }
  friend Taken operator+(const Taken& one, const Taken& other) {
    return {one.held_sms + other.held_sms, one.reserved_sms + other.reserved_sms,
            one.memory_share + other.memory_share, one.device_share + other.device_share};
  }
  bool nothing() const {
    return held_sms <= 0 && reserved_sms <= 0 && memory_share <= 0 && device_share <= 0;
  }
};

/// Bytes that a ring moves through one rank's memory.
Bytes memory_traffic(CollectiveOp op, Bytes bytes, int ranks);

/// Share of a GPU's SMs that so many channels hold: one each, but not the last. A core is one alone
/// and runs no channels.
double share_of_sms(int channels, const GpuProfile& gpu);

/// Sets the operation's shares of memory bandwidth and of the device from its memory traffic and
/// its uncontended time.
void use_memory(Operation& operation, Bytes traffic, const GpuProfile& gpu);

/// The factor by which a kernel is slower beside operations that hold these shares.
double slowdown(const Kernel& kernel, const Taken& taken);

}  // namespace stepsim
