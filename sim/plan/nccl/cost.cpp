// Computes latency and bandwidth of a candidate, term by term as ncclTopoTuneModel does.
#include "sim/plan/nccl/cost.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "sim/plan/nccl/channels.hpp"
#include "sim/plan/nccl/graph.hpp"
#include "sim/plan/nccl/refusal.hpp"
#include "sim/plan/nccl/thresholds.hpp"

namespace stepsim::nccl {
namespace {

int log2_down(double x) {
  return x < 1 ? -1 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(x))) - 1;
}

/// The terms of one candidate, in microseconds and GB/s as NCCL has them.
class Terms {
 public:
  Terms(const Communicator& c, CollectiveOp op, Algorithm a, Protocol p)
      : c_(c), op_(op), a_(a), p_(p), graph_(graph_of(c, a)) {}

  double latency(Bytes bytes) const;
  double bandwidth(Bytes bytes) const;

 private:
  bool is(Algorithm a) const { return a_ == a; }
  bool is(Protocol p) const { return p_ == p; }
  bool all_reduce() const { return op_ == CollectiveOp::all_reduce; }
  bool gathers_or_scatters() const {
    return op_ == CollectiveOp::all_gather || op_ == CollectiveOp::reduce_scatter;
  }
  double at(const LatencyTable& table) const { return table[index_of(a_)][index_of(p_)]; }
  double at(const LimitTable& table) const { return table[index_of(c_.architecture)][scale()]; }
  std::size_t scale() const { return static_cast<std::size_t>(std::min(c_.nodes, 3) - 1); }

  double steps() const;
  double base() const;
  double step_inside() const;
  double hop() const;
  double ring_latency() const;

  double bus_bandwidth() const;
  double nvls_channel() const;
  double collnet_direct() const;
  double ll_limit() const;
  double of_ring(double bus) const;
  double of_tree(double bus) const;

  const Communicator& c_;
  CollectiveOp op_;
  Algorithm a_;
  Protocol p_;
  Graph graph_;
};

/// The number of messages of a ring that follow each other.
double Terms::steps() const {
  if (all_reduce()) return 2 * (c_.ranks - 1);
  return gathers_or_scatters() ? c_.ranks - 1 : c_.ranks;
}

// --- latency

double Terms::base() const {
  const bool old_tree = c_.version <= NcclVersion::v2_20 && is(Algorithm::tree);
  return old_tree && is(Protocol::simple) ? 0 : at(kBaseLatency);
}

double Terms::step_inside() const {
  if (c_.version <= NcclVersion::v2_20 && is(Protocol::simple)) {
    if (is(Algorithm::tree)) return kOldTreeStep;
    if (is(Algorithm::nvls) || is(Algorithm::nvls_tree)) return kOldNvlsStep;
  }
  return at(c_.nvlink ? kNvlinkLatency : kPcieLatency);
}

/// The latency of one step over the network. The plugin's latency counts twice where data has to be
/// flushed to the GPU. With one GPU a node nothing hides the hop, so that it counts as a tree's.
double Terms::hop() const {
  const double reported = c_.network_latency.microseconds() * (is(Protocol::simple) ? 2 : 1);
  if (c_.version <= NcclVersion::v2_20 && is(Algorithm::tree) && is(Protocol::simple))
    return kOldTreeStep * c_.hop_scale + reported;
  if (c_.version != NcclVersion::v2_30 && is(Algorithm::nvls_tree))
    return kOldNvlsTreeHop * c_.hop_scale + reported;
  const bool exposed = c_.ranks_per_node() == 1 && c_.version > NcclVersion::v2_20;
  const Algorithm as = exposed ? Algorithm::tree : a_;
  return kNetworkLatency[index_of(as)][index_of(p_)] * c_.hop_scale + reported;
}

double Terms::ring_latency() const {
  if (!all_reduce() && !gathers_or_scatters())  // broadcasts and reductions are a pipelined chain
    return c_.nodes == 1 ? step_inside() : hop();
  const double turns = all_reduce() ? 2 : 1;
  // Version 2.20 counts a hop into every node, also into the first.
  const double hops = c_.nodes == 1                                      ? 0
                      : c_.version <= NcclVersion::v2_20 && all_reduce() ? turns * c_.nodes
                                                                         : turns * (c_.nodes - 1);
  // Posting to the network costs 1 us a step (Intel), and three times as much with Simple.
  const double post = c_.nodes == 1 ? 0 : is(Protocol::simple) ? 3 : 1;
  return (steps() - hops) * std::max(step_inside(), post) + hops * hop();
}

double Terms::latency(Bytes bytes) const {
  const double others = c_.ranks_per_node() - 1;
  const double levels = log2_down(c_.nodes);
  switch (a_) {
    case Algorithm::ring: {
      const double whole = base() + ring_latency();
      const double share = bytes.bytes() / (most_channels(c_, a_) * c_.ranks);
      if (!is(Protocol::simple) || c_.nodes == 1 || !all_reduce() || share < 64) return whole;
      return whole * (c_.architecture == Architecture::volta ? 1.9 : 1.4);  // "plateau effect"
    }
    case Algorithm::tree:
      return base() + 2 * (others * step_inside() + levels * hop());
    case Algorithm::collnet_direct:  // 0.4 us for each peer that a GPU serves
      return base() + 2 * (std::min(1.0, others) * step_inside() + others * 0.4) + hop();
    case Algorithm::collnet_chain:
      return base() + 2 * others * step_inside() + hop();
    case Algorithm::nvls:
      return step_inside() + (c_.nodes > 1 ? hop() : 0);
    case Algorithm::nvls_tree:
      return base() + step_inside() + 2 * levels * hop();
    case Algorithm::pat:
      return base() + levels * hop() / 3.5 + c_.ranks * 2.8;
  }
  return 0;
}

// --- bandwidth

double Terms::nvls_channel() const {
  const double per_node = c_.ranks_per_node();
  const bool tree = is(Algorithm::nvls_tree);
  if (c_.version != NcclVersion::v2_30) {
    const double between = tree && c_.nodes > 2 ? graph_.between / 2 : graph_.between;
    return c_.nodes == 1 ? graph_.inside : std::min(graph_.inside, between);
  }
  double inside = graph_.inside * kNvlsEfficiency[index_of(c_.architecture)] *
                  (graph_.channels - 1) / graph_.channels;
  inside *= all_reduce() ? 2 : (per_node - 1) / per_node;
  if (c_.nodes == 1) return inside;
  const double between = graph_.between * (tree && c_.nodes == 2 ? 2 : 1);
  return std::min({inside, between, tree ? at(kNvlsTreeLimit) : between});
}

/// The bandwidth when NVSwitch gathers for the heads and the network's switches reduce. Where there
/// are more GPUs than channels, heads are served in turn.
double Terms::collnet_direct() const {
  const double per_node = c_.ranks_per_node();
  if (gathers_or_scatters()) {
    if (c_.version <= NcclVersion::v2_20) {
      const double w = (per_node - 1) / 7;
      return per_node * graph_.inside * (w * 0.85 + (1 - w) * 0.95);
    }
    return per_node * std::min(graph_.inside, 0.9 * graph_.between);
  }
  double factor = per_node / graph_.channels;
  factor -= (factor - 1) / 2;
  const double bus = graph_.channels * graph_.inside / factor;
  return c_.architecture >= Architecture::hopper ? bus * 0.85 : bus;
}

double Terms::bus_bandwidth() const {
  if (is(Algorithm::nvls) || is(Algorithm::nvls_tree)) return graph_.channels * nvls_channel();
  if (is(Algorithm::collnet_direct)) return collnet_direct();
  const bool inside = c_.nodes <= 2 || is(Algorithm::collnet_chain);
  return graph_.channels * (inside ? graph_.inside : graph_.between);
}

double Terms::ll_limit() const {
  if (c_.nodes > 1) return kLlLimit[0][scale()];  // the limit with Intel CPUs
  const bool old = c_.version <= NcclVersion::v2_20;
  const Architecture row = old ? std::min(c_.architecture, Architecture::ampere) : c_.architecture;
  return kLlLimit[index_of(row)][0];
}

double Terms::of_ring(double bus) const {
  if (is(Protocol::ll)) {
    const bool third = c_.nodes == 1 && !all_reduce() && op_ != CollectiveOp::reduce;
    const double share = c_.version > NcclVersion::v2_20 ? 0.5 : third ? 1.0 / 3 : 0.25;
    return std::min(ll_limit(), bus * share);
  }
  if (is(Protocol::ll128)) {
    const bool exposed = c_.version <= NcclVersion::v2_20 && c_.ranks_per_node() == 1;
    return std::min(bus * (exposed ? 0.7 : 0.92), graph_.channels * at(kRingLl128Limit));
  }
  return bus;
}

double Terms::of_tree(double bus) const {
  bus = std::min(bus * 0.92, graph_.channels * at(kTreeLimit));
  if (is(Protocol::ll)) return std::min(bus / 3.8, ll_limit());
  if (is(Protocol::ll128)) {
    const double share = c_.nodes == 1 ? 7.0 / 9 : 120.0 / 128;
    return std::min(bus * share, graph_.channels * at(kTreeLl128Limit));
  }
  return bus;
}

double Terms::bandwidth(Bytes bytes) const {
  double bus = bus_bandwidth();
  if (is(Algorithm::ring)) bus = of_ring(bus);
  if (is(Algorithm::tree)) bus = of_tree(bus);
  if (is(Algorithm::pat)) bus *= 0.75;
  const bool nvls = is(Algorithm::nvls) || is(Algorithm::nvls_tree);
  if (is(Algorithm::ring)) {
    bus *= c_.ranks / steps();
  } else if (!gathers_or_scatters()) {
    if (!nvls)
      bus *= 0.5;
    else
      bus *= c_.version == NcclVersion::v2_30 ? c_.ranks / steps() : 5.0 / 6;
  }
  const bool corrected =
      all_reduce() &&
      (is(Algorithm::tree) || (is(Algorithm::nvls_tree) && c_.version == NcclVersion::v2_30 &&
                               c_.architecture == Architecture::blackwell));
  const int size = log2_down(bytes.bytes() / 64);
  const int last = is(Algorithm::tree) ? 22 : 23;
  if (corrected && size >= 0 && size <= last)
    bus *= kTreeCorrection[index_of(p_)][static_cast<std::size_t>(size)];
  return bus;
}

/// The choice of NCCL 2.4, which compares sizes instead of costs.
std::optional<Candidate> by_thresholds(const Communicator& c, CollectiveOp op, Bytes bytes,
                                       std::optional<Algorithm> algorithm,
                                       std::optional<Protocol> protocol) {
  if (!algorithm) algorithm = thresholds::algorithm(c, op, bytes);
  if (!protocol) protocol = thresholds::protocol(c, op, *algorithm, bytes);
  Candidate one = candidate(c, op, *algorithm, *protocol, bytes);
  if (!one.refusal.empty()) return std::nullopt;
  return one;
}

}  // namespace

Candidate candidate(const Communicator& c, CollectiveOp op, Algorithm algorithm, Protocol protocol,
                    Bytes bytes) {
  Candidate result{.algorithm = algorithm, .protocol = protocol};
  result.refusal = refusal(c, op, algorithm);
  if (result.refusal.empty()) result.refusal = protocol_refusal(c, algorithm, protocol);
  if (!result.refusal.empty()) return result;
  const Terms terms(c, op, algorithm, protocol);
  result.channels = channels(c, op, algorithm, protocol, bytes);
  result.latency = Seconds{terms.latency(bytes) * 1e-6};
  result.bandwidth = BytesPerSecond{terms.bandwidth(bytes) * 1e9};
  return result;
}

std::vector<Candidate> candidates(const Communicator& c, CollectiveOp op, Bytes bytes) {
  std::vector<Candidate> all;
  for (const Algorithm algorithm : kAlgorithms) {
    for (const Protocol protocol : kProtocols)
      all.push_back(candidate(c, op, algorithm, protocol, bytes));
  }
  return all;
}

std::optional<Candidate> cheapest(const Communicator& c, CollectiveOp op, Bytes bytes,
                                  std::optional<Algorithm> algorithm,
                                  std::optional<Protocol> protocol) {
  if (c.version == NcclVersion::v2_4) return by_thresholds(c, op, bytes, algorithm, protocol);
  std::optional<Candidate> best;
  for (Candidate& one : candidates(c, op, bytes)) {
    if (!one.refusal.empty()) continue;
    if (algorithm && one.algorithm != *algorithm) continue;
    if (protocol && one.protocol != *protocol) continue;
    if (!best || one.time(bytes) < best->time(bytes)) best = std::move(one);
  }
  return best;
}

const char* name_of(Algorithm algorithm) {
  constexpr std::array names{"tree",      "ring", "collnet_direct", "collnet_chain", "nvls",
                             "nvls_tree", "pat"};
  return names[index_of(algorithm)];
}

const char* name_of(Protocol protocol) {
  constexpr std::array names{"LL", "LL128", "Simple"};
  return names[index_of(protocol)];
}

}  // namespace stepsim::nccl
