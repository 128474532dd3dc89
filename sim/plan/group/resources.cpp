// Shares of SMs and memory bandwidth, and what they cost.
#include "sim/plan/group/resources.hpp"

#include <algorithm>

namespace stepsim {
namespace {

// The most of the SMs, or of the memory's bandwidth, that all collectives together take from a
// kernel. Not measured: an assumption that keeps the time finite where shares add up, half being
// what one of two takes that are served in turn. One collective rarely comes to it: NCCL has at
// most 64 channels (src/include/device.h, MAXCHANNELS), 0.48 of an H100's SMs, and most runs have
// 16 or 24.
constexpr double kMostHeld = 0.5;
// A kernel gets at least a hundredth of a core that serves a collective, so that it ends at some
// date.
constexpr double kMostTaken = 0.99;

}  // namespace

Bytes memory_traffic(CollectiveOp op, Bytes bytes, int ranks) {
  const double gather = 2 * bus_factor(CollectiveOp::all_gather, ranks);
  const double reduce = 3 * bus_factor(CollectiveOp::reduce_scatter, ranks);
  switch (op) {
    case CollectiveOp::all_gather:
      return bytes * gather;
    case CollectiveOp::reduce_scatter:
      return bytes * reduce;
    case CollectiveOp::all_reduce:
      return bytes * (gather + reduce);
    case CollectiveOp::reduce:
      return bytes * 3;
    case CollectiveOp::broadcast:
    case CollectiveOp::all_to_all:
    case CollectiveOp::shift:
      return bytes * (2 * bus_factor(op, ranks));
  }
  return Bytes{0};
}

double share_of_sms(int channels, const GpuProfile& gpu) {
  const int others = gpu.sms - 1;
  return others <= 0 ? 0 : static_cast<double>(std::min(channels, others)) / gpu.sms;
}

void use_memory(Operation& operation, Bytes traffic, const GpuProfile& gpu) {
  operation.device_share = gpu.communication_share;
  if (operation.device_share > 0) return;  // in which its memory's share is contained
  const Seconds time = uncontended(operation.phases);
  if (time > Seconds{0}) operation.memory_share = traffic / time / gpu.memory_bandwidth;
}

double slowdown(const Kernel& kernel, const Taken& taken) {
  if (kernel.is_launch()) return 1;
  const double sms = taken.held_sms + taken.reserved_sms;
  const double held = std::min(kernel.memory_bound ? taken.memory_share : sms, kMostHeld);
  const double more = taken.held_sms > 0 ? kernel.contention : 1;
  return more / ((1 - held) * (1 - std::min(taken.device_share, kMostTaken)));
}

}  // namespace stepsim
