// Finds routes and rings of drawn nodes.
#include "sim/cluster/node_graph.hpp"

#include <memory>

#include <fmt/format.h>

#include "sim/cluster/drawn_graph.hpp"
#include "sim/cluster/name_ranges.hpp"
#include "sim/cluster/rings.hpp"
#include "sim/core/error.hpp"

namespace stepsim {
namespace {

/// The ends of a node's drawing: vertices count GPUs, then NICs, then switches.
GraphEnds ends_of(const Cluster& cluster) {
  GraphEnds ends;
  const auto add = [&](const char* what, int count) {
    for (int i = 0; i < count; ++i) ends.names.push_back(fmt::format("{} {}", what, i));
  };
  add("gpu", cluster.gpus_per_node);
  add("nic", nics_of(cluster));
  ends.title = contracted(ends.names);
  return ends;
}

DrawnGraph graph_of(const NodeDrawing& drawing, const Cluster& cluster) {
  return {ends_of(cluster), drawing.switches, drawing.links, "cluster.node_topology"};
}

/// What the functions of one wiring share.
struct Node {
  DrawnGraph graph;
  LinkGraph among_gpus, over_switches;
  int gpus;

  using Vertex = LinkGraph::Vertex;
  static Vertex gpu(int number) { return static_cast<Vertex>(number); }
  Vertex nic(int number) const { return static_cast<Vertex>(gpus + number); }

  static std::vector<LinkId> route(const LinkGraph& routes, Vertex from, Vertex to) {
    auto found = routes.route(from, to, to);
    if (!found) throw InternalError(fmt::format("no route in a node from {} to {}", from, to));
    return std::move(*found);
  }
  std::vector<LinkId> between(int from, int to) const {
    return route(among_gpus, gpu(from), gpu(to));
  }
  std::vector<LinkId> reach(int local_gpu, int local_nic, bool out) const {
    const Vertex a = gpu(local_gpu), b = nic(local_nic);
    if (!graph.has_links(b)) return {};
    return out ? route(over_switches, a, b) : route(over_switches, b, a);
  }
  std::vector<Ring> rings(const std::vector<int>& members) const {
    return rings_over(members, [&](std::size_t i, std::size_t k) {
      const auto links = between(members[i], members[k]);
      return Joint{static_cast<int>(links.size()), among_gpus.width(links).bytes_per_second()};
    });
  }
};

}  // namespace

NodeWiring wiring_of(const NodeDrawing& drawing, const Cluster& cluster) {
  DrawnGraph graph = graph_of(drawing, cluster);
  const int gpus = cluster.gpus_per_node;
  LinkGraph among_gpus = graph.routes(static_cast<std::size_t>(gpus));
  LinkGraph over_switches = graph.routes(0);
  std::vector<BytesPerSecond> capacities;
  for (const DrawnGraph::Edge& edge : graph.edges()) capacities.push_back(edge.width);
  const auto node = std::make_shared<const Node>(
      Node{std::move(graph), std::move(among_gpus), std::move(over_switches), gpus});
  return {
      .capacities = std::move(capacities),
      .name_of = [node](LinkId link) { return node->graph.name_of(link); },
      .ends_of =
          [node](LinkId link) {
            const DrawnGraph::Edge& edge = node->graph.edges()[link];
            return std::pair{node->graph.names()[edge.from], node->graph.names()[edge.to]};
          },
      .between = [node](int from, int to) { return node->between(from, to); },
      .to_nic = [node](int gpu, int nic) { return node->reach(gpu, nic, true); },
      .from_nic = [node](int gpu, int nic) { return node->reach(gpu, nic, false); },
      .rings = [node](const std::vector<int>& members) { return node->rings(members); },
  };
}

std::vector<Objection> objections_to(const NodeDrawing& drawing, const Cluster& cluster) {
  DrawnGraph graph = graph_of(drawing, cluster);
  const auto gpus = static_cast<std::size_t>(cluster.gpus_per_node);
  const auto ends = gpus + static_cast<std::size_t>(nics_of(cluster));
  std::vector<LinkGraph::Vertex> linked;
  for (LinkGraph::Vertex v = 0; v < ends; ++v) {
    if (v < gpus || graph.has_links(v)) linked.push_back(v);
  }
  graph.require_routes(linked, gpus);
  for (int gpu = 0; gpu < cluster.gpus_per_node && nics_of(cluster) > 0; ++gpu) {
    const auto nic = static_cast<LinkGraph::Vertex>(cluster.gpus_per_node + nic_of(gpu, cluster));
    if (graph.has_links(nic)) graph.require_routes({static_cast<LinkGraph::Vertex>(gpu), nic}, 0);
  }
  return graph.objections();
}

int first_gpu_of(int nic, const Cluster& cluster) {
  int gpu = 0;
  while (gpu + 1 < cluster.gpus_per_node && nic_of(gpu, cluster) < nic) ++gpu;
  return gpu;
}

}  // namespace stepsim
