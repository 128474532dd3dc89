// Which ranks a fault is given to, and how slow that makes each of them.
#pragma once

#include <optional>
#include <vector>

#include "sim/core/random.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Which of the runs that differ in what is random, and what is left out of it.
struct PlanOptions {
  static constexpr int kNoCheckpoint = -1;
  int replica = 0;
  std::vector<int> healthy;                  ///< ranks that `faults.slow_gpus` do not touch, sorted
  std::optional<int> checkpoint_after = {};  ///< the step, from 0, that alone a checkpoint follows;
                                             ///< kNoCheckpoint: none; absent: those that are due
};

/// What each use of random numbers is drawn for: parts of a key.
enum class Drawn : std::uint64_t {
  slow_gpus,
  slow_links,
  kernels,
  collectives,
  samples,
  histories
};

/// The key of that use in that replica.
RandomKey key_of(const Run& run, int replica, Drawn what);

/// Sorted. A fraction is drawn by the key: as many as it makes of the candidates, rounded.
std::vector<int> affected_ranks(const Affected& who, const Cluster& cluster, RandomKey key);

/// That many of the candidates, as the key has it; in their order.
std::vector<int> drawn(const std::vector<int>& candidates, double fraction, RandomKey key);

/// How a rank is slower than others.
struct Slowness {
  double factor = 1;  ///< of the time of its kernels
  double delay = 0;   ///< seconds that its host stalls at the start of each step
  auto operator<=>(const Slowness&) const = default;
};

/// Of each rank: the product of the factors and the sum of the delays that it is given.
std::vector<Slowness> slowness_of_ranks(const Scenario& scenario, const PlanOptions& options);

}  // namespace stepsim
