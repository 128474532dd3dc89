// Rail-optimised leaf-spine: NIC i of the nodes of a pod hangs on rail switch i of that pod.
//
// Where NVIDIA's DGX SuperPOD reference architecture (RA-11333-001, compute fabric) calls a pod a
// scalable unit. Without nodes_per_leaf all nodes are one pod, whose switches never block.
#include <fmt/format.h>

#include "sim/cluster/topology.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

struct Rails {
  int nodes_per_pod, nics;
  int pod_of(int node) const { return node / nodes_per_pod; }
  int rail_of(Port port) const { return pod_of(port.node) * nics + port.nic; }
  std::string name(int rail) const {
    return fmt::format("pod {} rail {}", rail / nics, rail % nics);
  }
};

std::vector<Objection> rail_objections(const Cluster& cluster) {
  const Fabric& fabric = *cluster.inter_node;
  const std::size_t levels = fabric.oversubscription.size();
  if (levels == 1 && fabric.oversubscription.front() > 1 && fabric.nodes_per_leaf == 0)
    return {{"cluster.inter_node.oversubscription",
             "oversubscription, but all nodes are one pod, whose rails have no up-links",
             "state nodes_per_leaf"}};
  if (levels == 1) return {};
  return {
      {"cluster.inter_node.oversubscription",
       fmt::format("rails have one level above them, but oversubscription has {} numbers", levels),
       "give one number"}};
}

Wiring one_pod() {
  return {.switch_of = [](Port port) { return fmt::format("rail {}", port.nic); },
          .route = [](Port, Port, std::vector<LinkId>&) {},
          .regions = [](int) { return std::vector<int>{}; },
          .period = 1};
}

Wiring lay_out_rail(const Cluster& cluster) {
  const Fabric& fabric = *cluster.inter_node;
  if (fabric.nodes_per_leaf == 0) return one_pod();
  const Rails rails{fabric.nodes_per_leaf, fabric.nics_per_node};
  const int count = (rails.pod_of(cluster.nodes - 1) + 1) * rails.nics;
  const BytesPerSecond up =
      nic_payload(fabric) * (rails.nodes_per_pod / fabric.oversubscription.front());
  return {
      .capacities = std::vector<BytesPerSecond>(2 * static_cast<std::size_t>(count), up),
      .name_of =
          [rails](LinkId link) {
            return rails.name(static_cast<int>(link / 2)) + (link % 2 == 0 ? " up" : " down");
          },
      .ends_of =
          [rails](LinkId link) {
            const std::string rail = rails.name(static_cast<int>(link / 2));
            return link % 2 == 0 ? std::pair{rail, std::string("spine")}
                                 : std::pair{std::string("spine"), rail};
          },
      .switch_of = [rails](Port port) { return rails.name(rails.rail_of(port)); },
      .route =
          [rails](Port from, Port to, std::vector<LinkId>& route) {
            const int source = rails.rail_of(from), target = rails.rail_of(to);
            if (source == target) return;
            route.push_back(static_cast<LinkId>(2 * source));
            route.push_back(static_cast<LinkId>(2 * target + 1));
          },
      .regions = [rails](int node) { return std::vector{rails.pod_of(node)}; },
      .period = rails.nodes_per_pod,
      .moved_link =
          [rails](LinkId link, const std::function<int(int)>& moved) {
            const int rail = static_cast<int>(link / 2), pod = rail / rails.nics;
            const int other = rails.pod_of(moved(pod * rails.nodes_per_pod));
            return 2 * static_cast<LinkId>(rail + (other - pod) * rails.nics) + link % 2;
          },
  };
}

const Registered<Topology> rail{{
    .name = "rail",
    .description = "NIC i of each node on rail switch i; pods of nodes_per_leaf nodes, joined by "
                   "spines, oversubscribed by a factor",
    .keys = {"nodes_per_leaf", "oversubscription"},
    .objections = rail_objections,
    .lay_out = lay_out_rail,
}};

}  // namespace
}  // namespace stepsim
