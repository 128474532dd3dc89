// The links that loaders share: storage, page cache and CPU cores of their nodes.
#pragma once

#include <vector>

#include "sim/cluster/network.hpp"

namespace stepsim {

/// The bytes that one second of a core counts on a link that stands for cores.
inline constexpr double kCoreSecond = 1e9;

/// Whether reading takes time by the bytes read.
bool moves_bytes(const Storage& storage);

/// Whether workers of a node may have to wait for a core.
bool shares_cores(const Scenario& scenario);

/// Links of one kind: those of each node, and those that all nodes cross.
struct SharedLinks {
  std::vector<std::vector<LinkId>> by_node;  ///< links by limit, then by node
  std::vector<LinkId> common;
  bool empty() const { return by_node.empty() && common.empty(); }
  std::vector<LinkId> crossed_from(int node) const;
};

struct InputLinks {
  SharedLinks storage, requests, page_cache, cores;
  /// The links that a read from storage crosses: those of its bytes, and those of its requests.
  SharedLinks reads() const;
};

/// Adds the links for which the scenario's `data` has limits; none where it has no `data`.
InputLinks add_input_links(Network& network, const Scenario& scenario);

/// Adds the links of a storage that is for checkpoints alone.
SharedLinks add_checkpoint_links(Network& network, const CheckpointStorage& storage);

}  // namespace stepsim
