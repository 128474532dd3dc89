// A node that the scenario draws: links between GPUs, NICs, switches and CPUs.
#include "sim/cluster/node_graph.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

NodeDrawing stated_drawing(const Cluster& cluster) {
  return {cluster.node_topology.switches, cluster.node_topology.links};
}

std::vector<Objection> stated_objections(const Cluster& cluster) {
  return objections_to(stated_drawing(cluster), cluster);
}

const Registered<NodeTopology> custom{{
    .name = "custom",
    .description = "a graph of GPUs, NICs, switches and CPUs in the scenario",
    .keys = {"switches", "links"},
    .objections = stated_objections,
    .lay_out = [](const Cluster& cluster) { return wiring_of(stated_drawing(cluster), cluster); },
}};

}  // namespace
}  // namespace stepsim
