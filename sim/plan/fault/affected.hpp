// Which ranks a fault touches, and how slow it makes each of them.
#pragma once

#include <optional>
#include <vector>

#include "sim/core/random.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

struct PlanCache;

/// Which run of those that differ in what is random, and what is left out of it.
struct PlanOptions {
  static constexpr int kNoCheckpoint = -1;
  int replica = 0;
  std::vector<int> healthy;  ///< sorted ranks that `faults.slow_gpus` do not touch
  /// the one step, from 0, that a checkpoint follows; kNoCheckpoint: none does; absent: those that
  /// are due
  std::optional<int> checkpoint_after = {};
  /// lays out no ranks that are sure to be like others (Plan::blocks); such a plan only folds
  bool folds = false;
  PlanCache* cache = nullptr;  ///< what the caller keeps from plan to plan; outlives the plan
};

/// What random numbers are drawn for; each use is a part of a key.
enum class Drawn : std::uint64_t {
  slow_gpus,
  slow_links,
  kernels,
  collectives,
  samples,
  histories
};

/// The key of one use in one replica.
RandomKey key_of(const Run& run, int replica, Drawn what);

/// The ranks that `who` means, sorted. Where it is a fraction of the candidates, the key draws as
/// many, rounded.
std::vector<int> affected_ranks(const Affected& who, const Cluster& cluster, RandomKey key);

/// `fraction` of the candidates, rounded to whole ones and drawn by the key; in the order of the
/// candidates.
std::vector<int> drawn(const std::vector<int>& candidates, double fraction, RandomKey key);

/// How much slower one rank is than the others.
struct Slowness {
  double factor = 1;  ///< factor on the time of its kernels
  double delay = 0;   ///< seconds that its host stalls at the start of each step
  auto operator<=>(const Slowness&) const = default;
};

/// The slowness of each rank: the product of all factors and the sum of all delays that it is
/// given.
std::vector<Slowness> slowness_of_ranks(const Scenario& scenario, const PlanOptions& options);

}  // namespace stepsim
