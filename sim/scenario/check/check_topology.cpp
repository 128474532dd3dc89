// Topologies: their names, keys that they have no use for, and what they object to themselves.
#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "sim/scenario/check/check.hpp"

namespace stepsim {
namespace {

/// Keys that only some topologies read, and whether each says anything.
using Special = std::vector<std::pair<std::string, bool>>;

Special special_keys(const Fabric& f) {
  return {{"nodes_per_leaf", f.nodes_per_leaf > 0},
          {"leaves_per_pod", f.leaves_per_pod.has_value()},
          {"oversubscription", f.oversubscription != Fabric{}.oversubscription},
          {"nodes_per_router", f.nodes_per_router.has_value()},
          {"routers_per_group", f.routers_per_group.has_value()},
          {"global_links", f.global_links.has_value()},
          {"sizes", !f.sizes.empty()},
          {"link_bandwidth", f.link_bandwidth.has_value()},
          {"global_bandwidth", f.global_bandwidth.has_value()},
          {"switches", !f.switches.empty()},
          {"links", !f.links.empty()}};
}

Special special_keys(const NodeLayout& n) {
  return {{"gpus_per_switch", n.gpus_per_switch.has_value()},
          {"sockets", n.sockets.has_value()},
          {"pcie_bandwidth", n.pcie_bandwidth.has_value()},
          {"socket_bandwidth", n.socket_bandwidth.has_value()},
          {"switches", !n.switches.empty()},
          {"links", !n.links.empty()}};
}

bool reads(const KnownTopology& topology, const std::string& key) {
  return std::ranges::find(topology.keys, key) != topology.keys.end();
}

void report_useless(const KnownTopology& topology, const std::vector<KnownTopology>& all,
                    const Special& stated, const std::string& part, const KeyReports& keys) {
  for (const auto& [key, says] : stated) {
    if (!says || reads(topology, key)) continue;
    std::vector<std::string> readers;
    for (const KnownTopology& other : all) {
      if (reads(other, key)) readers.push_back(other.name);
    }
    keys.report({part + key}, "{} has no use for {}, which is for {}", topology.name, key,
                fmt::join(readers, " and "));
  }
}

struct Part {
  const std::vector<KnownTopology>& known;
  std::string path;  ///< "cluster.inter_node."
  std::string key;   ///< which key has the topology's name
  std::string_view title;
};

/// Whether a topology may look at its keys. One link of a list may be wrong: then only what is said
/// about the whole list is left out.
bool is_readable(const Part& part, const KnownTopology& topology, const KeyReports& keys) {
  const bool fits =
      keys.sound({"cluster.nodes", "cluster.gpus_per_node", "cluster.inter_node.nics_per_node"});
  return fits && std::ranges::all_of(topology.keys, [&](const auto& key) {
           return key == "links" || keys.sound({(part.path + key).c_str()});
         });
}

void check(const Part& part, const std::string& name, const Special& stated, const Cluster& cluster,
           const KeyReports& keys) {
  if (part.known.empty()) return;
  std::vector<std::string> names;
  for (const KnownTopology& known : part.known) names.push_back(known.name);
  keys.check_name((part.path + part.key).c_str(), name, names, part.title);
  for (const KnownTopology& topology : part.known) {
    if (topology.name != name) continue;
    report_useless(topology, part.known, stated, part.path, keys);
    if (topology.objections == nullptr || !is_readable(part, topology, keys)) continue;
    std::vector<Objection> news;  // to what the reader has not refused
    for (Objection& objection : topology.objections(cluster)) {
      if (keys.sound({objection.path.c_str()})) news.push_back(std::move(objection));
    }
    keys.report(news);
  }
}

}  // namespace

void check_topology(const Cluster& cluster, const KnownNames& known, const KeyReports& keys) {
  check({known.node_topologies, "cluster.node_topology.", "kind", "a way of joining GPUs"},
        cluster.node_topology.kind, special_keys(cluster.node_topology), cluster, keys);
  if (!cluster.inter_node) return;
  check({known.topologies, "cluster.inter_node.", "topology", "a topology"},
        cluster.inter_node->topology, special_keys(*cluster.inter_node), cluster, keys);
}

void check_link_names(const Scenario& scenario, const KnownNames& known, const KeyReports& keys) {
  if (known.link_names == nullptr || !keys.sound({"cluster", "data.storage"})) return;
  keys.report(known.link_names(scenario));
}

}  // namespace stepsim
