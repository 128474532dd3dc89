// Torus of one, two or three dimensions: each node has a router with a link to the next one in each
// direction of each dimension.
//
// Dimension-ordered routing (Dally and Towles 2004, Principles and Practices of Interconnection
// Networks, section 8.4.2): along x first, then y, then z, each the shorter way around. Half-way
// around both are as short; even coordinates then go up and odd ones down, which loads all links
// alike.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cluster/topology.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

constexpr std::string_view kAxes = "xyz";

/// A torus of nodes that count along x first. Each node has two links a dimension: towards higher
/// coordinates, then towards lower ones.
struct Torus {
  std::vector<int> sizes;

  int dimensions() const { return static_cast<int>(sizes.size()); }
  int stride(int axis) const {
    int product = 1;
    for (int i = 0; i < axis; ++i) product *= sizes[static_cast<std::size_t>(i)];
    return product;
  }
  int size(int axis) const { return sizes[static_cast<std::size_t>(axis)]; }
  int coordinate(int node, int axis) const { return node / stride(axis) % size(axis); }
  int neighbour(int node, int axis, int step) const {
    const int at = coordinate(node, axis);
    const int to = (at + step + size(axis)) % size(axis);
    return node + (to - at) * stride(axis);
  }
  LinkId link(int node, int axis, int step) const {
    return static_cast<LinkId>(2 * (node * dimensions() + axis) + (step > 0 ? 0 : 1));
  }

  int node_of(LinkId link) const { return static_cast<int>(link / 2) / dimensions(); }
  int axis_of(LinkId link) const { return static_cast<int>(link / 2) % dimensions(); }
  static int step_of(LinkId link) { return link % 2 == 0 ? 1 : -1; }

  void route(int from, int to, std::vector<LinkId>& route) const {
    int node = from;
    for (int axis = 0; axis < dimensions(); ++axis) {
      const int start = coordinate(node, axis);
      const int up = (coordinate(to, axis) - start + size(axis)) % size(axis);
      const bool rises = 2 * up < size(axis) || (2 * up == size(axis) && start % 2 == 0);
      const int step = rises ? 1 : -1;
      for (int hops = rises ? up : size(axis) - up; hops > 0; --hops) {
        if (up == 0) break;
        route.push_back(link(node, axis, step));
        node = neighbour(node, axis, step);
      }
    }
  }
};

std::vector<Objection> torus_objections(const Cluster& cluster) {
  const std::vector<int>& sizes = cluster.inter_node->sizes;
  const std::string key = "cluster.inter_node.sizes";
  if (sizes.empty()) return {{key, "a torus needs sizes", "add \"sizes: [<x>, <y>, <z>]\""}};
  if (sizes.size() > kAxes.size())
    return {{key,
             fmt::format("a torus has at most {} dimensions, not {}", kAxes.size(), sizes.size()),
             ""}};
  std::int64_t nodes = 1;
  for (const int size : sizes) nodes *= size;
  if (nodes == cluster.nodes) return {};
  return {{key,
           fmt::format("sizes {} = {} nodes, but the cluster has {}", fmt::join(sizes, " x "),
                       nodes, cluster.nodes),
           ""}};
}

Wiring lay_out_torus(const Cluster& cluster) {
  const Fabric& fabric = *cluster.inter_node;
  const Torus torus{fabric.sizes};
  const BytesPerSecond each = fabric.link_bandwidth.value_or(fabric.bandwidth) * fabric.efficiency;
  const auto router = [](int node) { return fmt::format("router of node {}", node); };
  return {
      .capacities = std::vector<BytesPerSecond>(
          2 * static_cast<std::size_t>(cluster.nodes) * torus.sizes.size(), each),
      .name_of =
          [torus](LinkId link) {
            return fmt::format("torus {}{} of node {}",
                               kAxes[static_cast<std::size_t>(torus.axis_of(link))],
                               Torus::step_of(link) > 0 ? '+' : '-', torus.node_of(link));
          },
      .ends_of =
          [torus, router](LinkId link) {
            const int node = torus.node_of(link);
            const int next = torus.neighbour(node, torus.axis_of(link), Torus::step_of(link));
            return std::pair{router(node), router(next)};
          },
      .switch_of = [router](Port port) { return router(port.node); },
      .route = [torus](Port from, Port to,
                       std::vector<LinkId>& route) { torus.route(from.node, to.node, route); },
      .regions = [](int) { return std::vector<int>{}; },
  };
}

const Registered<Topology> torus{{
    .name = "torus",
    .description = "nodes in a ring, grid or cube of sizes, each joined to its neighbours; "
                   "dimension-ordered routes",
    .keys = {"sizes", "link_bandwidth"},
    .objections = torus_objections,
    .lay_out = lay_out_torus,
}};

}  // namespace
}  // namespace stepsim
