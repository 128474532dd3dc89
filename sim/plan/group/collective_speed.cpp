// Measured lines, and NCCL's formula where there are none.
#include "sim/plan/group/collective_speed.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/cluster/node_topology.hpp"
#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "sim/plan/nccl/cost.hpp"

namespace stepsim {
namespace {

using Lines = std::vector<const CollectiveLine*>;
/// What would be expected of a line's algorithm and protocol on so many ranks.
using Expected = std::function<std::optional<Speed>(const CollectiveLine& line, int ranks)>;

/// Broadcasts and reduces put as many bytes on the links as gathers and scatters, and nobody
/// measured them.
const std::vector<CollectiveLine>& lines_of(CollectiveOp op, const LinkProfile& link) {
  static const std::vector<CollectiveLine> none;
  if (op == CollectiveOp::broadcast) op = CollectiveOp::all_gather;
  if (op == CollectiveOp::reduce) op = CollectiveOp::reduce_scatter;
  const StatedCollective* measured = stated_collective(op);
  return measured == nullptr ? none : link.*measured->lines;
}

Speed of_line(const CollectiveLine& line) { return {line.latency, line.bandwidth}; }

/// The least time at that size among lines of so many ranks.
const CollectiveLine& least(const Lines& lines, int ranks, Bytes bytes) {
  const CollectiveLine* best = nullptr;
  for (const CollectiveLine* line : lines) {
    if (line->ranks != ranks) continue;
    if (best == nullptr || of_line(*line).time(bytes) < of_line(*best).time(bytes)) best = line;
  }
  if (best == nullptr) throw InternalError("no line of a link for that many ranks");
  return *best;
}

/// Measured over expected at the measured numbers of ranks next to `ranks`.
double ratio_at(const Lines& lines, int ranks, Bytes bytes, const Expected& expected) {
  int below = 0, above = 0;
  for (const CollectiveLine* line : lines) {
    if (line->ranks <= ranks) below = std::max(below, line->ranks);
    if (line->ranks >= ranks) above = above == 0 ? line->ranks : std::min(above, line->ranks);
  }
  const auto ratio = [&](int measured) {
    const CollectiveLine& line = least(lines, measured, bytes);
    return of_line(line).time(bytes) / expected(line, measured)->time(bytes);
  };
  if (below == 0) return ratio(above);
  if (above == 0 || above == below) return ratio(below);
  const double share =
      std::log(static_cast<double>(ranks) / below) / std::log(static_cast<double>(above) / below);
  return ratio(below) * (1 - share) + ratio(above) * share;
}

/// Lines of the same algorithm and protocol, else of the protocol, else all, as far as something is
/// expected of them here.
Lines most_alike(const std::vector<CollectiveLine>& lines, std::string_view algorithm,
                 Protocol protocol, const Expected& expected) {
  Lines same, same_protocol, all;
  for (const CollectiveLine& line : lines) {
    if (!expected(line, line.ranks)) continue;
    all.push_back(&line);
    if (line.protocol != protocol) continue;
    same_protocol.push_back(&line);
    if (line.algorithm == algorithm) same.push_back(&line);
  }
  if (!same.empty()) return same;
  return same_protocol.empty() ? all : same_protocol;
}

std::optional<Speed> inside(const std::vector<CollectiveLine>& lines, std::string_view algorithm,
                            Protocol protocol, int ranks, Bytes bytes, const Speed& here,
                            const Expected& expected) {
  Lines exact;
  for (const CollectiveLine& line : lines) {
    if (line.ranks == ranks && line.algorithm == algorithm && line.protocol == protocol)
      exact.push_back(&line);
  }
  if (!exact.empty()) return of_line(least(exact, ranks, bytes));
  const Lines alike = most_alike(lines, algorithm, protocol, expected);
  if (alike.empty()) return std::nullopt;
  const double ratio = ratio_at(alike, ranks, bytes, expected);
  return Speed{here.latency * ratio, here.bandwidth / ratio};
}

std::optional<nccl::Algorithm> algorithm_named(std::string_view name) {
  for (const nccl::Algorithm algorithm : nccl::kAlgorithms) {
    if (name == nccl::name_of(algorithm)) return algorithm;
  }
  return std::nullopt;
}

std::optional<Speed> expected_of(const nccl::Communicator& c, CollectiveOp op,
                                 nccl::Algorithm algorithm, Protocol protocol, Bytes bytes) {
  const nccl::Candidate candidate = nccl::candidate(c, op, algorithm, protocol, bytes);
  if (!candidate.refusal.empty()) return std::nullopt;
  return Speed{candidate.latency, candidate.bandwidth};
}

/// The group as its messages travel: a hop takes what the fabric's does, whatever the plugin
/// reports. What a hop takes beyond InfiniBand's is the network's, and is not stretched.
struct Hops {
  Seconds stretched, added;
};
Hops hops_of(CollectiveOp op, Bytes bytes, nccl::Algorithm algorithm, Protocol protocol,
             nccl::Communicator c, Seconds hop) {
  c.network_latency = Seconds{};
  c.hop_scale = std::min(1.0, hop / nccl::kSimpleHop);
  const Seconds quiet = expected_of(c, op, algorithm, protocol, bytes)->latency;
  const auto& tree = nccl::kNetworkLatency[nccl::index_of(nccl::Algorithm::tree)];
  const double share = tree[nccl::index_of(Protocol::ll)] / tree[nccl::index_of(Protocol::simple)];
  c.network_latency =
      std::max(Seconds{}, hop - nccl::kSimpleHop) * (protocol == Protocol::ll ? share : 1);
  return {quiet, expected_of(c, op, algorithm, protocol, bytes)->latency - quiet};
}

std::optional<Speed> across(CollectiveOp op, Bytes bytes, nccl::Algorithm algorithm,
                            Protocol protocol, const nccl::Communicator& c,
                            const Cluster& cluster) {
  const auto here = expected_of(c, op, algorithm, protocol, bytes);
  if (!here) return here;
  const Hops hops = hops_of(op, bytes, algorithm, protocol, c, cluster.inter_node->latency);
  const bool between_two =
      algorithm == nccl::Algorithm::tree && c.nodes == 2 && c.ranks_per_node() > 1;
  return Speed{hops.stretched * latency_factor(cluster, c.version) + hops.added,
               here->bandwidth * (between_two ? cluster.intra_node.two_node_trees : 1)};
}

}  // namespace

nccl::Communicator communicator_of(const GroupShape& group, const Cluster& cluster,
                                   NcclVersion version) {
  nccl::Communicator c{.version = version,
                       .architecture = collective_generation(cluster.gpu.architecture)};
  c.ranks = group.ranks;
  c.nodes = group.nodes;
  c.nics = group.nics;
  c.link = cluster.intra_node.bandwidth;
  const NodeTopology& node = *Registry<NodeTopology>::find(cluster.node_topology.kind);
  c.nvswitch = node.nvswitch;
  c.nvlink = node.nvlink;
  if (cluster.inter_node) {
    c.nic = cluster.inter_node->bandwidth;
    c.sharp = cluster.inter_node->sharp;
    c.network_latency = cluster.inter_node->plugin_latency;
  }
  return c;
}

bool is_measured(const LinkProfile& link) { return !link.all_reduce.empty(); }

std::optional<Speed> speed_of(CollectiveOp op, Bytes bytes, nccl::Algorithm algorithm,
                              Protocol protocol, const GroupShape& group, const Cluster& cluster,
                              NcclVersion version) {
  if (!is_measured(cluster.intra_node)) return std::nullopt;
  const nccl::Communicator c = communicator_of(group, cluster, version);
  if (group.nodes > 1) return across(op, bytes, algorithm, protocol, c, cluster);
  const auto here = expected_of(c, op, algorithm, protocol, bytes);
  if (!here) return here;
  const Expected expected = [&](const CollectiveLine& line, int ranks) -> std::optional<Speed> {
    nccl::Communicator other = c;
    other.ranks = ranks;
    const auto measured = algorithm_named(line.algorithm);
    if (!measured) return std::nullopt;
    return expected_of(other, op, *measured, line.protocol, bytes);
  };
  return inside(lines_of(op, cluster.intra_node), nccl::name_of(algorithm), protocol, group.ranks,
                bytes, *here, expected);
}

std::optional<Speed> pairwise_speed(Bytes bytes, Protocol protocol, int ranks,
                                    const LinkProfile& link) {
  const auto alone = [&](int count) {
    const double remote = (count - 1.0) / count;
    return Speed{link.latency, link.bandwidth * (link.efficiency / remote)};
  };
  const Expected expected = [&](const CollectiveLine&, int count) {
    return std::optional<Speed>(alone(count));
  };
  return inside(link.all_to_all, "pairwise", protocol, ranks, bytes, alone(ranks), expected);
}

double latency_factor(const Cluster& cluster, NcclVersion version) {
  constexpr Bytes kSmall = 64_KiB;
  Lines rings;
  int most = 0;
  for (const CollectiveLine& line : cluster.intra_node.all_reduce) {
    if (line.algorithm != "ring" || line.protocol != Protocol::ll) continue;
    rings.push_back(&line);
    most = std::max(most, line.ranks);
  }
  if (rings.empty()) return 1;
  const auto expected =
      expected_of(communicator_of({most, 1, 0}, cluster, version), CollectiveOp::all_reduce,
                  nccl::Algorithm::ring, Protocol::ll, kSmall);
  return of_line(least(rings, most, kSmall)).time(kSmall) / expected->time(kSmall);
}

}  // namespace stepsim
