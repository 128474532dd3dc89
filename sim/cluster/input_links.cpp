// Adds links for what limits the loaders of a node, and all loaders together.
#include "sim/cluster/input_links.hpp"

#include <fmt/format.h>

namespace stepsim {
namespace {

/// Adds links to a network; none where the limit is 0.
class Limits {
 public:
  Limits(Network& network, SharedLinks& links) : network_(network), links_(links) {}

  void of_each_node(const char* name, const char* from, double limit) {
    if (limit <= 0) return;
    std::vector<LinkId>& links = links_.by_node.emplace_back();
    for (int node = 0; node < network_.cluster().nodes; ++node) {
      const std::string to = fmt::format("node {}", node);
      links.push_back(network_.add({to + " " + name, from, to}, BytesPerSecond{limit}));
    }
  }
  void of_all(const char* name, double limit) {
    if (limit <= 0) return;
    links_.common.push_back(network_.add({name, name, "storage"}, BytesPerSecond{limit}));
  }

 private:
  Network& network_;
  SharedLinks& links_;
};

}  // namespace

bool moves_bytes(const Storage& storage) {
  const BytesPerSecond none{0};
  return storage.bandwidth > none || storage.shared_bandwidth > none || storage.iops > 0 ||
         storage.shared_iops > 0 || storage.through == StoragePath::fabric;
}

bool shares_cores(const Scenario& scenario) {
  const Host& host = scenario.host;
  if (!host.cores) return false;
  // Without workers the process of a GPU is its own loader.
  const double workers = scenario.data->workers > 0 ? scenario.data->workers : 1;
  return (host.threads + workers) * scenario.cluster.gpus_per_node > *host.cores;
}

std::vector<LinkId> SharedLinks::crossed_from(int node) const {
  std::vector<LinkId> links = common;
  for (const auto& of : by_node) links.push_back(of[static_cast<std::size_t>(node)]);
  return links;
}

SharedLinks InputLinks::reads() const {
  SharedLinks both = storage;
  both.by_node.insert(both.by_node.end(), requests.by_node.begin(), requests.by_node.end());
  both.common.insert(both.common.end(), requests.common.begin(), requests.common.end());
  return both;
}

SharedLinks add_checkpoint_links(Network& network, const CheckpointStorage& storage) {
  SharedLinks links;
  Limits limits(network, links);
  limits.of_each_node("checkpoint storage", "storage", storage.bandwidth.bytes_per_second());
  limits.of_all("checkpoint storage of all nodes", storage.shared_bandwidth.bytes_per_second());
  return links;
}

InputLinks add_input_links(Network& network, const Scenario& scenario) {
  InputLinks links;
  if (!scenario.data) return links;
  const Input& d = *scenario.data;
  const Storage& s = d.storage;
  const double read = d.sample_size.bytes() * s.samples_per_read;
  Limits storage(network, links.storage), requests(network, links.requests);
  storage.of_each_node("storage", "storage", s.bandwidth.bytes_per_second());
  requests.of_each_node("storage requests", "storage", s.iops * read);
  storage.of_all("storage of all nodes", s.shared_bandwidth.bytes_per_second());
  requests.of_all("storage requests of all nodes", s.shared_iops * read);
  if (s.page_cache > Bytes{0}) {
    Limits(network, links.page_cache)
        .of_each_node("page cache", "page cache", s.page_cache_bandwidth.bytes_per_second());
  }
  if (shares_cores(scenario)) {
    const Host& host = scenario.host;
    const double left = *host.cores - host.threads * scenario.cluster.gpus_per_node;
    Limits(network, links.cores).of_each_node("cores", "cores", left * kCoreSecond);
  }
  return links;
}

}  // namespace stepsim
