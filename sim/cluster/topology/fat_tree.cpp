// Fat tree of two or three levels: nodes below leaf switches, leaves below a spine, or below the
// switches of their pod, and pods below a core. Up-links are oversubscribed level by level.
//
// Leiserson 1985 (IEEE Trans. Computers C-34), in the form that Al-Fares et al. 2008 (SIGCOMM) gave
// it for data centres. All up-links of a leaf are one link, and all of a pod.
#include <fmt/format.h>

#include "sim/cluster/topology.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

struct Tree {
  int nodes_per_leaf, leaves;
  int leaves_per_pod, pods;  ///< `pods` is 0 without a third level

  int leaf_of(int node) const { return node / nodes_per_leaf; }
  int pod_of(int leaf) const { return leaf / leaves_per_pod; }
  int switches() const { return leaves + pods; }
  /// The name of a switch below the top: leaves count first, then pods.
  std::string name(int which) const {
    return which < leaves ? fmt::format("leaf {}", which) : fmt::format("pod {}", which - leaves);
  }
  std::string above(int which) const {
    if (pods == 0) return "spine";
    return which < leaves ? name(leaves + pod_of(which)) : "core";
  }
  static LinkId up(int which) { return static_cast<LinkId>(2 * which); }
  static LinkId down(int which) { return static_cast<LinkId>(2 * which + 1); }

  void route(int from, int to, std::vector<LinkId>& route) const {
    const int source = leaf_of(from), target = leaf_of(to);
    if (source == target) return;
    const bool over_core = pods > 0 && pod_of(source) != pod_of(target);
    route.push_back(up(source));
    if (over_core) {
      route.push_back(up(leaves + pod_of(source)));
      route.push_back(down(leaves + pod_of(target)));
    }
    route.push_back(down(target));
  }

  /// Nodes below a switch of the highest level that has several.
  std::int64_t period() const {
    if (leaves == 1) return 1;
    return pods > 1 ? std::int64_t{nodes_per_leaf} * leaves_per_pod : nodes_per_leaf;
  }
  /// A switch is where the first node below it is.
  LinkId moved(LinkId link, const std::function<int(int)>& of_node) const {
    const int which = static_cast<int>(link / 2);
    const bool is_leaf = which < leaves;
    if ((is_leaf ? leaves : pods) == 1) return link;
    const int leaf = is_leaf ? which : (which - leaves) * leaves_per_pod;
    const int other = leaf_of(of_node(leaf * nodes_per_leaf));
    const int there = is_leaf ? other : leaves + pod_of(other);
    return static_cast<LinkId>(2 * there) + link % 2;
  }

  std::vector<int> regions(int node) const {
    if (pods == 0) return {leaf_of(node)};
    return {leaf_of(node), pod_of(leaf_of(node))};
  }
};

Tree tree_of(const Cluster& cluster) {
  const Fabric& fabric = *cluster.inter_node;
  Tree tree{.nodes_per_leaf = fabric.nodes_per_leaf > 0 ? fabric.nodes_per_leaf : cluster.nodes,
            .leaves = 0,
            .leaves_per_pod = fabric.leaves_per_pod.value_or(1),
            .pods = 0};
  tree.leaves = tree.leaf_of(cluster.nodes - 1) + 1;
  if (fabric.leaves_per_pod) tree.pods = tree.pod_of(tree.leaves - 1) + 1;
  return tree;
}

std::vector<Objection> fat_tree_objections(const Cluster& cluster) {
  const Fabric& fabric = *cluster.inter_node;
  std::vector<Objection> found;
  const std::size_t levels = fabric.leaves_per_pod ? 2 : 1;
  const std::size_t stated = fabric.oversubscription.size();
  if (stated == 0 || stated > levels) {
    found.push_back(
        {"cluster.inter_node.oversubscription",
         fmt::format("oversubscription has {} numbers, but {} level{} of switches ha{} "
                     "others above",
                     stated, levels, levels == 1 ? "" : "s", levels == 1 ? "s" : "ve"),
         levels == 1 ? "give one number, or state leaves_per_pod" : "give two numbers"});
  }
  const bool is_one_leaf = fabric.nodes_per_leaf == 0 && !fabric.leaves_per_pod;
  if (is_one_leaf && stated == 1 && fabric.oversubscription.front() > 1) {
    found.push_back({"cluster.inter_node.oversubscription",
                     "oversubscription, but all nodes are below one leaf, which has no up-links",
                     "state nodes_per_leaf"});
  }
  if (fabric.leaves_per_pod && fabric.nodes_per_leaf == 0) {
    found.push_back({"cluster.inter_node.leaves_per_pod",
                     "leaves_per_pod, but all nodes are below one leaf", "state nodes_per_leaf"});
  }
  return found;
}

Wiring lay_out_fat_tree(const Cluster& cluster) {
  const Fabric& fabric = *cluster.inter_node;
  const Tree tree = tree_of(cluster);
  const auto& factors = fabric.oversubscription;
  const double nics = static_cast<double>(tree.nodes_per_leaf) * fabric.nics_per_node;
  const BytesPerSecond leaf = nic_payload(fabric) * (nics / factors.front());
  const BytesPerSecond pod = leaf * (tree.leaves_per_pod / (factors.size() > 1 ? factors[1] : 1));
  std::vector<BytesPerSecond> capacities(2 * static_cast<std::size_t>(tree.leaves), leaf);
  capacities.resize(2 * static_cast<std::size_t>(tree.switches()), pod);
  return {
      .capacities = std::move(capacities),
      .name_of =
          [tree](LinkId link) {
            return tree.name(static_cast<int>(link / 2)) + (link % 2 == 0 ? " up" : " down");
          },
      .ends_of =
          [tree](LinkId link) {
            const int which = static_cast<int>(link / 2);
            return link % 2 == 0 ? std::pair{tree.name(which), tree.above(which)}
                                 : std::pair{tree.above(which), tree.name(which)};
          },
      .switch_of = [tree](Port port) { return tree.name(tree.leaf_of(port.node)); },
      .route = [tree](Port from, Port to,
                      std::vector<LinkId>& route) { tree.route(from.node, to.node, route); },
      .regions = [tree](int node) { return tree.regions(node); },
      .period = tree.period(),
      .moved_link = [tree](
                        LinkId link,
                        const std::function<int(int)>& moved) { return tree.moved(link, moved); },
  };
}

const Registered<Topology> fat_tree{{
    .name = "fat_tree",
    .description = "leaf switches of nodes_per_leaf nodes below a spine, or below pods and a core; "
                   "oversubscribed level by level",
    .keys = {"nodes_per_leaf", "leaves_per_pod", "oversubscription"},
    .objections = fat_tree_objections,
    .lay_out = lay_out_fat_tree,
}};

}  // namespace
}  // namespace stepsim
