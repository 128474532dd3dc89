// Chooses chunks as calcCollChunking does.
#include "sim/plan/nccl/chunks.hpp"

#include <algorithm>

#include "sim/plan/nccl/channels.hpp"
#include "sim/plan/nccl/graph.hpp"

namespace stepsim::nccl {
namespace {

/// A smaller chunk, for messages of less than so many turns.
struct Cut {
  double turns;
  Bytes chunk;
};
constexpr Cut kNvlsCuts[] = {{64, 64_KiB}, {8, 32_KiB}, {2, 16_KiB}};
constexpr Cut kNvlsTreeCuts[] = {{16, 128_KiB}, {4, 64_KiB}, {1, 32_KiB}};

constexpr Bytes kNvlsChunk = 128_KiB;  // NCCL_NVLS_CHUNKSIZE

/// The largest chunk of an NVLS tree. Blackwell has a table in recent releases
/// (ncclNvlsTreeSm100Tuning), here with NICs below the PCIe switches of their GPUs.
Bytes tree_chunk(const Communicator& c) {
  const bool fast = c.nic >= 96_GBps;
  const int members = c.ranks_per_node();
  if (c.architecture != Architecture::blackwell || c.version != NcclVersion::v2_30 ||
      c.nic < 48_GBps)
    return c.nodes >= 4 ? 64_KiB : kNvlsChunk;
  if (c.nodes == 2) {
    if (members <= 4) return 256_KiB;
    return members >= 16 || (members <= 8 && !fast) ? 64_KiB : 128_KiB;
  }
  if (!fast) return 64_KiB;
  if (members <= 8) return 256_KiB;
  return members < 32 ? 128_KiB : 64_KiB;
}

}  // namespace

Bytes ring_chunk(Protocol protocol) {
  switch (protocol) {
    case Protocol::ll:
      return Bytes{512.0 * 8 * 8};  // 512 threads, 8 lines of 8 B of payload each
    case Protocol::ll128:
      return Bytes{640.0 * 120 * 8 * 120 / 128};  // 640 threads, 120 words of 8 B, flags among them
    case Protocol::simple:
      return 2_MiB;
  }
  return Bytes{};
}

Bytes nvls_turn(const Communicator& c, Algorithm algorithm, Bytes bytes) {
  const bool tree = algorithm == Algorithm::nvls_tree;
  const double heads = graph_of(c, algorithm).channels;
  const double senders = heads * most_channels(c, algorithm);
  Bytes chunk = tree ? tree_chunk(c) : kNvlsChunk;
  const auto cut = [&](const Cut& smaller) {
    if (bytes < chunk * (senders * smaller.turns)) chunk = std::min(chunk, smaller.chunk);
  };
  if (tree)
    std::ranges::for_each(kNvlsTreeCuts, cut);
  else
    std::ranges::for_each(kNvlsCuts, cut);
  return chunk * senders;
}

}  // namespace stepsim::nccl
