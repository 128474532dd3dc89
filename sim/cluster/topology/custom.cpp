// A fabric that the scenario draws: switches, and links between them and nodes or single NICs.
//
// Nodes do not forward. A link of "node 3" carries all NICs of the node that have no link of their
// own ("node 3 nic 0").
#include <memory>

#include <fmt/format.h>

#include "sim/cluster/drawn_graph.hpp"
#include "sim/cluster/topology.hpp"
#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

/// The ends of the drawing: vertices count all nodes, then the NICs of all nodes, then switches.
GraphEnds ends_of(const Cluster& cluster) {
  const int nodes = cluster.nodes, nics = cluster.inter_node->nics_per_node;
  GraphEnds ends;
  for (int node = 0; node < nodes; ++node) ends.names.push_back(fmt::format("node {}", node));
  for (int node = 0; node < nodes; ++node) {
    for (int nic = 0; nic < nics; ++nic)
      ends.names.push_back(fmt::format("node {} nic {}", node, nic));
  }
  const std::string all = nodes == 1 ? "node 0" : fmt::format("node 0..{}", nodes - 1);
  ends.title = nics == 1 ? all : fmt::format("{0}, {0} nic 0..{1}", all, nics - 1);
  return ends;
}

DrawnGraph graph_of(const Cluster& cluster) {
  const Fabric& fabric = *cluster.inter_node;
  return {ends_of(cluster), fabric.switches, fabric.links, "cluster.inter_node"};
}

LinkGraph::Vertex vertex_of(const DrawnGraph& graph, const Cluster& cluster, Port port) {
  const int own = cluster.nodes + port.node * cluster.inter_node->nics_per_node + port.nic;
  const auto vertex = static_cast<LinkGraph::Vertex>(own);
  return graph.has_links(vertex) ? vertex : static_cast<LinkGraph::Vertex>(port.node);
}

std::vector<Objection> graph_objections(const Cluster& cluster) {
  DrawnGraph graph = graph_of(cluster);
  if (cluster.inter_node->links.empty() && cluster.nodes > 1) {
    return {{"cluster.inter_node.links", "a custom topology needs links",
             "add \"links: [{from: node 0, to: <switch>, bandwidth: <number> Gbit/s}, ...]\""}};
  }
  std::vector<LinkGraph::Vertex> ends;
  for (int node = 0; node < cluster.nodes; ++node) {
    for (int nic = 0; nic < cluster.inter_node->nics_per_node; ++nic) {
      const auto vertex = vertex_of(graph, cluster, {node, nic});
      if (ends.empty() || ends.back() != vertex) ends.push_back(vertex);
    }
  }
  graph.require_routes(ends, 0);
  return graph.objections();
}

/// What the functions of one wiring share.
struct Drawing {
  DrawnGraph graph;
  LinkGraph routes;
  std::vector<LinkGraph::Vertex> vertices;  ///< the vertex of each port
  int nics;

  std::size_t number(Port port) const {
    return static_cast<std::size_t>(port.node * nics + port.nic);
  }

  void route(Port from, Port to, std::vector<LinkId>& route) const {
    const auto found = routes.route(vertices[number(from)], vertices[number(to)], number(to));
    if (!found)
      throw InternalError(fmt::format("no route from node {} to node {}", from.node, to.node));
    route.insert(route.end(), found->begin(), found->end());
  }
};

Wiring lay_out_graph(const Cluster& cluster) {
  DrawnGraph graph = graph_of(cluster);
  LinkGraph routes = graph.routes(0);
  const int nics = cluster.inter_node->nics_per_node;
  std::vector<LinkGraph::Vertex> vertices;
  for (int node = 0; node < cluster.nodes; ++node) {
    for (int nic = 0; nic < nics; ++nic) vertices.push_back(vertex_of(graph, cluster, {node, nic}));
  }
  std::vector<BytesPerSecond> capacities;
  for (const DrawnGraph::Edge& edge : graph.edges())
    capacities.push_back(edge.width * cluster.inter_node->efficiency);
  const auto drawing = std::make_shared<const Drawing>(
      Drawing{std::move(graph), std::move(routes), std::move(vertices), nics});
  return {
      .capacities = std::move(capacities),
      .name_of = [drawing](LinkId link) { return drawing->graph.name_of(link); },
      .ends_of =
          [drawing](LinkId link) {
            const DrawnGraph::Edge& edge = drawing->graph.edges()[link];
            const auto& names = drawing->graph.names();
            return std::pair{names[edge.from], names[edge.to]};
          },
      .switch_of =
          [drawing](Port port) {
            return drawing->graph.names()[drawing->vertices[drawing->number(port)]];
          },
      .route = [drawing](Port from, Port to,
                         std::vector<LinkId>& route) { drawing->route(from, to, route); },
      .regions = [](int) { return std::vector<int>{}; },
  };
}

const Registered<Topology> custom{{
    .name = "custom",
    .description =
        "a graph of switches and links in the scenario; the fewest links, then the widest",
    .keys = {"switches", "links"},
    .objections = graph_objections,
    .lay_out = lay_out_graph,
}};

}  // namespace
}  // namespace stepsim
