// Lays out the links and routes of a cluster.
#include "sim/cluster/network.hpp"

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

/// The registered topology called `name`. Throws UserError where it is unknown or does not fit the
/// cluster.
template <class T>
const T& fitting(const std::string& name, const Cluster& cluster) {
  const T* topology = Registry<T>::find(name);
  if (topology == nullptr) throw UserError("unknown topology '" + name + "'");
  if (topology->objections == nullptr) return *topology;
  for (const Objection& objection : topology->objections(cluster))
    throw UserError(objection.path + ": " + objection.message);
  return *topology;
}

// The links of a route from NIC to NIC below one switch. There is a route for each pair of ranks
// that exchange.
constexpr std::size_t kUsualRoute = 2;

void append(std::vector<LinkId>& route, const std::vector<LinkId>& more) {
  route.insert(route.end(), more.begin(), more.end());
}

}  // namespace

Network::Network(const Cluster& cluster) : cluster_(&cluster) {
  node_ = fitting<NodeTopology>(cluster.node_topology.kind, cluster).lay_out(cluster);
  std::vector<Link> of_node;
  for (const BytesPerSecond capacity : node_.capacities) of_node.push_back({capacity});
  links_.set_nodes(std::move(of_node), static_cast<std::size_t>(cluster.nodes));
  nics_ = switches_ = static_cast<LinkId>(links_.size());
  if (cluster.inter_node) add_fabric(*cluster.inter_node);
}

void Network::add_fabric(const Fabric& fabric) {
  fabric_ = fitting<Topology>(fabric.topology, *cluster_).lay_out(*cluster_);
  const std::size_t nics =
      static_cast<std::size_t>(cluster_->nodes) * static_cast<std::size_t>(fabric.nics_per_node);
  links_.set_nics({nic_payload(fabric)}, 2 * nics);
  switches_ = static_cast<LinkId>(links_.size());
  for (const BytesPerSecond capacity : fabric_.capacities) links_.add({capacity});
}

LinkId Network::add(Added link, BytesPerSecond bandwidth) {
  added_.push_back(std::move(link));
  links_.add({bandwidth});
  return static_cast<LinkId>(links_.size() - 1);
}

// --- names

std::string Network::name_of(LinkId link) const {
  if (link >= first_added()) return added_[link - first_added()].name;
  if (link >= switches_) return fabric_.name_of(link - switches_);
  if (link < nics_)
    return fmt::format("node {} {}", link / links_of_node(), node_.name_of(link % links_of_node()));
  return name_of(port_at(link)) + (is_up(link) ? " up" : " down");
}

std::string Network::name_of(Port port) {
  return fmt::format("node {} nic {}", port.node, port.nic);
}

Port Network::port_at(LinkId link) const {
  const int nic = static_cast<int>((link - nics_) / 2);
  return {nic / nics_of(*cluster_), nic % nics_of(*cluster_)};
}

std::pair<std::string, std::string> Network::ends_of(LinkId link) const {
  if (link >= first_added()) {
    const Added& added = added_[link - first_added()];
    return {added.from, added.to};
  }
  if (link >= switches_) return fabric_.ends_of(link - switches_);
  if (link < nics_) {
    const LinkId node = link / links_of_node();
    const auto [from, to] = node_.ends_of(link % links_of_node());
    return {fmt::format("node {} {}", node, from), fmt::format("node {} {}", node, to)};
  }
  const Port port = port_at(link);
  std::string end = name_of(port);
  std::string other = fabric_.switch_of(port);
  if (is_up(link)) return {std::move(end), std::move(other)};
  return {std::move(other), std::move(end)};
}

LinkId Network::first_like(LinkId link, const Blocks& blocks) const {
  if (blocks.count == 1) return link;
  const auto like = [&](int node) { return blocks.first_node_like(node); };
  if (link >= switches_) return switches_ + fabric_.moved_link(link - switches_, like);
  const LinkId first = link < nics_ ? 0 : nics_;
  const LinkId each = link < nics_ ? links_of_node() : 2 * static_cast<LinkId>(nics_of(*cluster_));
  const auto node = static_cast<int>((link - first) / each);
  return link - static_cast<LinkId>(node - like(node)) * each;
}

std::size_t Network::place_of(LinkId link, const Blocks& blocks) const {
  const bool inside = link < nics_;
  const LinkId each = inside ? links_of_node() : 2 * static_cast<LinkId>(nics_of(*cluster_));
  const auto run = static_cast<LinkId>(blocks.nodes), count = static_cast<LinkId>(blocks.count);
  const LinkId behind = inside ? link : link - nics_;
  const LinkId node = behind / each;
  const LinkId place = node / run / count * run + node % run;
  return (inside ? 0 : nics_ / count) + place * each + behind % each;
}

std::vector<LinkId> Network::first_links(const Blocks& blocks) const {
  std::vector<LinkId> links;
  const auto add_of_nodes = [&](LinkId first, LinkId each) {
    for (int node = 0; node < cluster_->nodes; ++node) {
      if (blocks.first_node_like(node) != node) continue;
      for (LinkId i = 0; i < each; ++i)
        links.push_back(first + static_cast<LinkId>(node) * each + i);
    }
  };
  add_of_nodes(0, links_of_node());
  if (cluster_->inter_node) add_of_nodes(nics_, 2 * static_cast<LinkId>(nics_of(*cluster_)));
  for (LinkId link = switches_; link < links_.size(); ++link) {
    if (first_like(link, blocks) == link) links.push_back(link);
  }
  return links;
}

// --- routes

Port Network::port_of(int rank) const {
  return {node_of(rank), nic_of(rank % cluster_->gpus_per_node, *cluster_)};
}

LinkId Network::nic(Port port, bool up) const {
  return nics_ +
         static_cast<LinkId>(2 * (port.node * nics_of(*cluster_) + port.nic) + (up ? 0 : 1));
}

std::vector<LinkId> Network::of_node(int node, std::vector<LinkId> links) const {
  for (LinkId& link : links) link += static_cast<LinkId>(node) * links_of_node();
  return links;
}

std::vector<LinkId> Network::inside(int from_rank, int to_rank) const {
  if (from_rank == to_rank) return {};
  const int gpus = cluster_->gpus_per_node;
  return of_node(node_of(from_rank), node_.between(from_rank % gpus, to_rank % gpus));
}

std::vector<LinkId> Network::to_nic(int rank) const {
  const Port port = port_of(rank);
  return of_node(port.node, node_.to_nic(rank % cluster_->gpus_per_node, port.nic));
}

std::vector<LinkId> Network::from_nic(int rank) const {
  const Port port = port_of(rank);
  return of_node(port.node, node_.from_nic(rank % cluster_->gpus_per_node, port.nic));
}

void Network::add_route(Port from, Port to, std::vector<LinkId>& route) const {
  if (from.node == to.node) return;
  route.push_back(nic(from, true));
  const std::size_t first = route.size();
  fabric_.route(from, to, route);
  for (std::size_t i = first; i < route.size(); ++i) route[i] += switches_;
  route.push_back(nic(to, false));
}

std::vector<LinkId> Network::route(Port from, Port to) const {
  std::vector<LinkId> route;
  add_route(from, to, route);
  return route;
}

std::vector<LinkId> Network::route(int from_rank, int to_rank) const {
  if (node_of(from_rank) == node_of(to_rank)) return inside(from_rank, to_rank);
  std::vector<LinkId> route = to_nic(from_rank);
  route.reserve(route.size() + kUsualRoute);
  add_route(port_of(from_rank), port_of(to_rank), route);
  append(route, from_nic(to_rank));
  return route;
}

std::vector<Ring> Network::rings(const std::vector<int>& ranks) const {
  const int gpus = cluster_->gpus_per_node, first = node_of(ranks.front()) * gpus;
  std::vector<int> local;
  for (const int rank : ranks) local.push_back(rank - first);
  std::vector<Ring> rings = node_.rings(local);
  for (Ring& ring : rings) {
    for (int& gpu : ring.gpus) gpu += first;
  }
  return rings;
}

std::vector<int> Network::regions(int node) const {
  return fabric_.regions ? fabric_.regions(node) : std::vector<int>{};
}

}  // namespace stepsim
