// Decides as ncclTreeThreshold and getKernelInfo of v2.4.8 do.
#include "sim/plan/nccl/thresholds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "sim/plan/nccl/channels.hpp"

namespace stepsim::nccl::thresholds {
namespace {

// threads of an LL block, NCCL_LL_{MIN,MAX}_NTHREADS
constexpr double kLeastThreads = 64, kMostThreads = 256;
constexpr double kBytesBeforeMore = 8;  // bytes of one thread, NCCL_LL_CHANNEL_THRESHOLD

/// The bytes of one thread from which Simple takes over from LL: NCCL_THREAD_THRESHOLD of GPUs
/// since Volta, twice as many with several nodes, four times that in trees.
double bytes_before_simple(const Communicator& c, Algorithm a) {
  return 64.0 * (c.nodes > 1 ? 2 : 1) * (a == Algorithm::tree ? 4 : 1);
}

/// The chunks into which one turn of the algorithm cuts the message (getLoopInfo): a ring has one a
/// rank, but its broadcasts and reductions are chains.
double chunks_of_turn(const Communicator& c, CollectiveOp op, Algorithm a) {
  const bool chain = op == CollectiveOp::broadcast || op == CollectiveOp::reduce;
  return a == Algorithm::tree || chain ? 1 : c.ranks;
}

struct LlKernel {
  double threads = kLeastThreads;  ///< threads of one block
  double channels = 1;
};

LlKernel of_ll(const Communicator& c, CollectiveOp op, Algorithm a, Bytes bytes) {
  const double chunk = bytes.bytes() / chunks_of_turn(c, op, a);
  LlKernel kernel;
  while (std::ceil(chunk / kernel.threads) > kBytesBeforeMore && 2 * kernel.threads <= kMostThreads)
    kernel.threads *= 2;
  kernel.channels = std::clamp(std::ceil(chunk / (kernel.threads * kBytesBeforeMore)), 1.0,
                               static_cast<double>(most_channels(c, a)));
  return kernel;
}

}  // namespace

Bytes of_tree(const Communicator& c) {
  if (c.nodes < 2) return Bytes{0};
  // Rates are in bytes a microsecond, latencies in microseconds.
  const double ring = 5000.0 * (c.nvlink ? most_channels(c, Algorithm::ring) : 1);
  const double tree = c.nvlink ? ring * 3 / 4 * (c.nodes == 2 ? 2 : 1) : ring * 2 / 3;
  const int levels = static_cast<int>(std::bit_width(static_cast<unsigned>(c.nodes))) - 1;
  const int ranks_per_node = c.ranks / c.nodes;
  const double ring_latency = 6.0 * (c.ranks - 1);
  const double tree_latency = 15.0 * levels + 4.0 * (ranks_per_node - 1);
  if (ring_latency <= tree_latency) return Bytes{0};
  if (tree > ring) return Bytes{std::numeric_limits<double>::infinity()};
  return Bytes{ring * tree / (ring - tree) * (ring_latency - tree_latency)};
}

Algorithm algorithm(const Communicator& c, CollectiveOp op, Bytes bytes) {
  const bool small = op == CollectiveOp::all_reduce && c.nodes > 1 && bytes <= of_tree(c);
  return small ? Algorithm::tree : Algorithm::ring;
}

Protocol protocol(const Communicator& c, CollectiveOp op, Algorithm a, Bytes bytes) {
  const LlKernel kernel = of_ll(c, op, a, bytes);
  const double most =
      kernel.channels * kernel.threads * chunks_of_turn(c, op, a) * bytes_before_simple(c, a);
  return bytes.bytes() <= most ? Protocol::ll : Protocol::simple;
}

int ll_channels(const Communicator& c, CollectiveOp op, Algorithm a, Bytes bytes) {
  return static_cast<int>(of_ll(c, op, a, bytes).channels);
}

}  // namespace stepsim::nccl::thresholds
