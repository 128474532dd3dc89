// Finds the ranks that a fault touches.
#include "sim/plan/fault/affected.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stepsim {

RandomKey key_of(const Run& run, int replica, Drawn what) {
  return RandomKey(run.seed)
      .with(static_cast<std::uint64_t>(replica))
      .with(static_cast<std::uint64_t>(what));
}

std::vector<int> drawn(const std::vector<int>& candidates, double fraction, RandomKey key) {
  const auto count =
      static_cast<std::size_t>(std::llround(fraction * static_cast<double>(candidates.size())));
  std::vector<int> order = candidates;
  const auto lot = [&](int member) { return key.with(static_cast<std::uint64_t>(member)).bits(); };
  std::ranges::sort(order, [&](int a, int b) { return lot(a) < lot(b); });
  order.resize(std::min(count, order.size()));
  std::ranges::sort(order);
  return order;
}

std::vector<int> affected_ranks(const Affected& who, const Cluster& cluster, RandomKey key) {
  std::vector<int> ranks = who.ranks;
  for (const int node : who.nodes) {
    for (int gpu = 0; gpu < cluster.gpus_per_node; ++gpu)
      ranks.push_back(node * cluster.gpus_per_node + gpu);
  }
  if (who.ranks.empty() && who.nodes.empty()) {
    ranks.resize(static_cast<std::size_t>(cluster.gpus()));
    std::iota(ranks.begin(), ranks.end(), 0);
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return who.fraction ? drawn(ranks, *who.fraction, key) : ranks;
}

std::vector<Slowness> slowness_of_ranks(const Scenario& scenario, const PlanOptions& options) {
  std::vector<Slowness> slowness(static_cast<std::size_t>(scenario.cluster.gpus()));
  const RandomKey key = key_of(scenario.run, options.replica, Drawn::slow_gpus);
  for (std::size_t i = 0; i < scenario.faults.slow_gpus.size(); ++i) {
    const SlowGpus& slow = scenario.faults.slow_gpus[i];
    for (const int rank : affected_ranks(slow.who, scenario.cluster, key.with(i))) {
      if (std::ranges::binary_search(options.healthy, rank)) continue;
      Slowness& of_rank = slowness[static_cast<std::size_t>(rank)];
      of_rank.factor *= slow.factor;
      of_rank.delay += slow.delay.seconds();
    }
  }
  return slowness;
}

}  // namespace stepsim
