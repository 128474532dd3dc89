// The links that loaders share: storage, page cache and CPU cores of their nodes.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/network.hpp"

namespace stepsim {

/// One core's second, in the bytes that a link of cores counts.
inline constexpr double kCoreSecond = 1e9;

/// Whether reading takes time by the bytes.
bool moves_bytes(const Storage& storage);

/// Whether workers of a node may have to wait for a core.
bool shares_cores(const Scenario& scenario);

/// Links of each node, and some that all nodes cross.
struct SharedLinks {
  std::vector<std::vector<LinkId>> by_node;  ///< by limit, then node
  std::vector<LinkId> common;
  bool empty() const { return by_node.empty() && common.empty(); }
  std::vector<LinkId> crossed_from(int node) const;
};

struct InputLinks {
  SharedLinks storage, requests, page_cache, cores;
  /// What reads from storage cross: its bytes, and its answers to requests.
  SharedLinks reads() const;
};

/// Adds those that the scenario's `data` has limits for; none without it.
InputLinks add_input_links(Network& network, const Scenario& scenario);

/// Those of a storage for checkpoints alone.
SharedLinks add_checkpoint_links(Network& network, const CheckpointStorage& storage);

}  // namespace stepsim
