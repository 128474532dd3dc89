// Links and routes of a cluster.
#include "sim/cluster/network.hpp"

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {

Network::Network(const Cluster& cluster) : cluster_(&cluster) {
  const LinkProfile& own = cluster.intra_node;
  if (cluster.gpus_per_node > 1) {
    const BytesPerSecond inside = own.bandwidth * own.efficiency;
    for (int rank = 0; rank < cluster.gpus(); ++rank) {
      const int node = rank / cluster.gpus_per_node, gpu = rank % cluster.gpus_per_node;
      links_.push_back({fmt::format("node {} gpu {} out", node, gpu), inside});
      links_.push_back({fmt::format("node {} gpu {} in", node, gpu), inside});
    }
  }
  nics_ = static_cast<LinkId>(links_.size());
  if (!cluster.inter_node) return;
  const Fabric& fabric = *cluster.inter_node;
  topology_ = Registry<Topology>::find(fabric.topology);
  if (topology_ == nullptr) throw UserError("unknown topology '" + fabric.topology + "'");
  const BytesPerSecond payload = fabric.bandwidth * fabric.efficiency;
  for (int node = 0; node < cluster.nodes; ++node) {
    for (int nic = 0; nic < fabric.nics_per_node; ++nic) {
      links_.push_back({fmt::format("node {} nic {} up", node, nic), payload});
      links_.push_back({fmt::format("node {} nic {} down", node, nic), payload});
    }
  }
  switches_ = static_cast<LinkId>(links_.size());
  for (Link& link : topology_->links(cluster)) links_.push_back(std::move(link));
}

void Network::add_storage(BytesPerSecond bandwidth) {
  storage_ = static_cast<LinkId>(links_.size());
  stores_ = true;
  for (int node = 0; node < cluster_->nodes; ++node) {
    links_.push_back({fmt::format("node {} storage", node), bandwidth});
  }
}

Port Network::port_of(int rank) const {
  const int local = rank % cluster_->gpus_per_node;
  const int nics = cluster_->inter_node ? cluster_->inter_node->nics_per_node : 0;
  return {node_of(rank), local * nics / cluster_->gpus_per_node};
}

LinkId Network::nic(Port port, bool up) const {
  const int nics = cluster_->inter_node->nics_per_node;
  return nics_ + static_cast<LinkId>(2 * (port.node * nics + port.nic) + (up ? 0 : 1));
}

LinkId Network::gpu(int rank, bool out) const {
  return static_cast<LinkId>(2 * rank + (out ? 0 : 1));
}

std::vector<LinkId> Network::inside(int from_rank, int to_rank) const {
  if (from_rank == to_rank) return {};
  return {gpu(from_rank, true), gpu(to_rank, false)};
}

std::vector<LinkId> Network::route(Port from, Port to) const {
  if (from.node == to.node) return {};
  std::vector<LinkId> route = {nic(from, true)};
  topology_->route(*cluster_, from, to, route);
  for (std::size_t i = 1; i < route.size(); ++i) route[i] += switches_;
  route.push_back(nic(to, false));
  return route;
}

std::vector<LinkId> Network::route(int from_rank, int to_rank) const {
  if (node_of(from_rank) == node_of(to_rank)) return inside(from_rank, to_rank);
  return route(port_of(from_rank), port_of(to_rank));
}

}  // namespace stepsim
