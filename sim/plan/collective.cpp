// Collectives inside a node, and the choice of an algorithm between nodes.
#include "sim/plan/collective.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

const std::vector<CollectiveCurve>& curves_of(CollectiveOp op, const LinkProfile& link) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return link.all_reduce;
    case CollectiveOp::all_gather:
      return link.all_gather;
    case CollectiveOp::reduce_scatter:
      return link.reduce_scatter;
    case CollectiveOp::all_to_all:
      return link.all_to_all;
    case CollectiveOp::shift: {
      static const std::vector<CollectiveCurve> none;
      return none;
    }
  }
  throw InternalError("a collective without curves");
}

Seconds on_curve(const CollectiveCurve& curve, Bytes bytes) {
  return curve.latency + std::min(bytes / curve.low, curve.second_latency + bytes / curve.high);
}

/// Between two measured numbers of ranks the time is interpolated in log(ranks); outside, the
/// nearest holds.
Seconds on_curves(const std::vector<CollectiveCurve>& curves, Bytes bytes, int ranks) {
  const auto above =
      std::find_if(curves.begin(), curves.end(), [&](const auto& c) { return c.ranks >= ranks; });
  if (above == curves.end()) return on_curve(curves.back(), bytes);
  if (above == curves.begin() || above->ranks == ranks) return on_curve(*above, bytes);
  const CollectiveCurve& below = *std::prev(above);
  const double share = std::log(static_cast<double>(ranks) / below.ranks) /
                       std::log(static_cast<double>(above->ranks) / below.ranks);
  return on_curve(below, bytes) * (1 - share) + on_curve(*above, bytes) * share;
}

/// Messages that follow each other.
double steps(CollectiveOp op, int ranks) {
  if (op == CollectiveOp::all_to_all || op == CollectiveOp::shift) return 1;
  return static_cast<double>((op == CollectiveOp::all_reduce ? 2 : 1) * (ranks - 1));
}

}  // namespace

double bus_factor(CollectiveOp op, int ranks) {
  if (op == CollectiveOp::shift) return 1;
  const double share = static_cast<double>(ranks - 1) / ranks;
  return op == CollectiveOp::all_reduce ? 2 * share : share;
}

Seconds inside_node(CollectiveOp op, Bytes bytes, int ranks, const LinkProfile& link) {
  if (ranks <= 1) return Seconds{0};
  const auto& curves = curves_of(op, link);
  if (!curves.empty()) return on_curves(curves, bytes, ranks);
  return link.latency * steps(op, ranks) +
         bytes * bus_factor(op, ranks) / (link.bandwidth * link.efficiency);
}

void add_flow(Phase& phase, Pattern pattern, Bytes bytes, Seconds alone) {
  if (bytes > Bytes{0} && alone > Seconds{0})
    phase.flows.push_back({pattern, bytes, bytes / alone});
  else
    phase.latency += alone;
}

Phase phase_inside(CollectiveOp op, Bytes bytes, int ranks, const LinkProfile& link) {
  Phase phase{.latency = inside_node(op, Bytes{0}, ranks, link), .flows = {}};
  const bool pairs = op == CollectiveOp::all_to_all;
  const Seconds moving = inside_node(op, bytes, ranks, link) - phase.latency;
  // Where the measured time is less than a ring's could be, the switch reduces and sends less.
  const Bytes most = link.bandwidth * link.efficiency * moving;
  add_flow(phase, pairs ? Pattern::pairs_inside : Pattern::inside,
           std::min(bytes * bus_factor(op, ranks), most), moving);
  return phase;
}

BytesPerSecond nic_rate(const Cluster& cluster) {
  return cluster.inter_node->bandwidth * cluster.inter_node->efficiency;
}

BytesPerSecond node_rate(const Cluster& cluster) {
  return cluster.intra_node.bandwidth * cluster.intra_node.efficiency;
}

Seconds uncontended(const Phases& phases) {
  Seconds sum;
  for (const Phase& phase : phases) {
    Seconds longest;
    for (const PhaseFlow& flow : phase.flows) longest = std::max(longest, flow.alone());
    sum += phase.latency + longest;
  }
  return sum;
}

Phases collective(const CollectiveRequest& request, const GroupShape& group, const Cluster& cluster,
                  const std::string& algorithm) {
  if (group.ranks <= 1) return {};
  if (group.nodes == 1) {
    return {phase_inside(request.op, request.bytes, group.ranks, cluster.intra_node)};
  }
  if (algorithm != "auto" && Registry<CollectiveAlgorithm>::find(algorithm) == nullptr) {
    throw UserError("unknown collective algorithm '" + algorithm + "'");
  }
  Phases best;
  for (const CollectiveAlgorithm* candidate : Registry<CollectiveAlgorithm>::all()) {
    if (algorithm != "auto" && algorithm != candidate->name) continue;
    if (!candidate->supports(request, group)) continue;
    Phases phases = candidate->phases(request, group, cluster);
    if (best.empty() || uncontended(phases) < uncontended(best)) best = std::move(phases);
  }
  // A named algorithm that cannot do this on this group gives way to the ring, which always can.
  if (best.empty()) return collective(request, group, cluster, "ring");
  return best;
}

}  // namespace stepsim
