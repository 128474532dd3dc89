// Doubles channels as ncclTopoPostset does, and takes them away again as topoGetAlgoInfo does.
#include "sim/plan/nccl/channels.hpp"

#include <algorithm>
#include <bit>

#include "sim/plan/nccl/graph.hpp"
#include "sim/plan/nccl/thresholds.hpp"

namespace stepsim::nccl {
namespace {

/// The most channels of a communicator (MAXCHANNELS).
int limit_of_channels(const Communicator& c) { return c.version == NcclVersion::v2_4 ? 16 : 64; }

/// The most channels that multicast through NVSwitch needs (NVLS_NCHANNELS_SM90 and its
/// successors).
int multicast_channels(const Communicator& c) {
  if (c.architecture < Architecture::blackwell) return 16;
  return c.nodes == 1 ? 24 : 32;
}

/// The channels of rings, trees and everything that runs over their channels.
int communicator_channels(const Communicator& c) {
  const Graph ring = graph_of(c, Algorithm::ring);
  int channels = 2 * std::min(ring.channels, graph_of(c, Algorithm::tree).channels);
  if (c.sharp && c.nodes > 1 && c.ranks > c.nodes) {
    const Graph chain = graph_of(c, Algorithm::collnet_chain);
    if (chain.inside > chain.between) channels += channels / 2;
  }
  // "Use 4 compute channels per search channel to reach peak BW on <8 PPN"
  const bool fast = c.architecture >= Architecture::hopper && ring.inside > 45;
  if (fast && c.nodes > 1 && channels < 16) channels *= 2;
  return std::clamp(channels, 1, limit_of_channels(c));
}

/// The least bytes for which a channel is worth while: the threads of a block
/// (NCCL_SIMPLE_MAX_NTHREADS, NCCL_LL_MAX_NTHREADS, NCCL_LL128_MAX_NTHREADS) times the least bytes
/// of each; those of LL grow with a ring.
Bytes least_bytes(const Communicator& c, Algorithm algorithm, Protocol protocol) {
  switch (protocol) {
    case Protocol::ll:
      return Bytes{512.0 * 8 * (algorithm == Algorithm::ring ? c.ranks : 1)};
    case Protocol::ll128:
      return Bytes{640.0 * 8};
    case Protocol::simple:
      return Bytes{512.0 * 64};
  }
  return Bytes{1};
}

}  // namespace

int most_channels(const Communicator& c, Algorithm algorithm) {
  if (algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree)
    return multicast_channels(c);
  return communicator_channels(c);
}

int channels(const Communicator& c, CollectiveOp op, Algorithm algorithm, Protocol protocol,
             Bytes bytes) {
  const int most = most_channels(c, algorithm);
  if (c.version == NcclVersion::v2_4)
    return protocol == Protocol::ll ? thresholds::ll_channels(c, op, algorithm, bytes) : most;
  if (algorithm != Algorithm::ring && algorithm != Algorithm::tree) return most;
  const double filled = bytes / least_bytes(c, algorithm, protocol);
  return filled >= most ? most : std::max(1, static_cast<int>(filled));
}

int pair_channels(const Communicator& c, CollectiveOp op) {
  const int all = static_cast<int>(std::bit_ceil(static_cast<unsigned>(communicator_channels(c))));
  if (op == CollectiveOp::all_to_all) return all;
  int each = c.nodes == 1 ? all : std::min(2, all);
  while (each * c.ranks > all && each > 1) each /= 2;
  return each;
}

}  // namespace stepsim::nccl
