// Changes of the network: free, and with links twice as fast.
#include <algorithm>

#include "sim/core/registry.hpp"
#include "sim/plan/what_if.hpp"

namespace stepsim {
namespace {

std::vector<Cause> all_exposed() {
  std::vector<Cause> causes;
  for (const Axis axis : kAllAxes) causes.push_back(exposed(axis));
  return causes;
}

const Registered<Limit> network{{
    .name = "network",
    .bound = "network-bound",
    .waits = "for the network",
    .world = "with an infinitely fast network",
    .causes = all_exposed(),
    .applies = [](const Scenario& s) { return s.cluster.gpus() > 1; },
    .plan = with_free_network,
    .proposals = {"split", "experts", "overlap", "buckets", "micro-batches"},
}};

constexpr double kTwice = 2;

void widen(BytesPerSecond& rate) { rate = rate * kTwice; }
void widen(std::optional<BytesPerSecond>& rate) {
  if (rate) widen(*rate);
}
void widen(std::vector<GraphLink>& links) {
  for (GraphLink& link : links) {
    widen(link.bandwidth);
    widen(link.back);
  }
}
template <class Line>
void widen_lines(std::vector<Line>& lines) {
  for (Line& line : lines) widen(line.bandwidth);
}

/// The smallest message, which is all latency, takes as long as before.
void widen(FabricCurve& curve) {
  if (curve.sizes.empty()) return;
  Seconds least = curve.sizes.front().time;
  for (const MeasuredSize& size : curve.sizes) least = std::min(least, size.time);
  for (MeasuredSize& size : curve.sizes) size.time = least + (size.time - least) / kTwice;
}

void widen_fabric(Scenario& scenario) {
  Fabric& fabric = *scenario.cluster.inter_node;
  widen(fabric.bandwidth);
  widen(fabric.link_bandwidth);
  widen(fabric.global_bandwidth);
  widen(fabric.links);
  for (FabricCurve& curve : fabric.measured) widen(curve);
}

void widen_nodes(Scenario& scenario) {
  LinkProfile& link = scenario.cluster.intra_node;
  widen(link.bandwidth);
  for (const auto& [op, choice, lines] : kStatedCollectives) widen_lines(link.*lines);
  NodeLayout& node = scenario.cluster.node_topology;
  widen(node.pcie_bandwidth);
  widen(node.socket_bandwidth);
  widen(node.links);
}

std::vector<Change> changes(const Scenario& scenario) {
  std::vector<Change> changes;
  if (scenario.cluster.nodes > 1)
    changes.push_back({.title = "a network between nodes twice as fast", .scenario = widen_fabric});
  if (scenario.cluster.gpus_per_node > 1)
    changes.push_back({.title = "links inside nodes twice as fast", .scenario = widen_nodes});
  return changes;
}

const Registered<Proposal> links{{.name = "links", .changes = changes}};

}  // namespace
}  // namespace stepsim
