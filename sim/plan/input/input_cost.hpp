// What a batch costs its loader: bytes from storage and page cache, waiting, CPU and GPU time.
#pragma once

#include "sim/core/quantity.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// The costs of one micro-batch of one rank.
struct BatchCost {
  Bytes stored;     ///< read from storage
  Bytes cached;     ///< read from the page cache
  Seconds waiting;  ///< time until storage answers, read after read
  Seconds cpu;      ///< CPU time of one worker
  Seconds gpu;      ///< GPU time before the first kernel
  Bytes pinned;     ///< bytes that the pin thread copies, and that are copied to the GPU
};

/// The costs of a batch in an epoch. Epoch 0 reads everything for the first time.
BatchCost batch_cost(const Scenario& scenario, int epoch);

/// The share of the samples that a node finds in its page cache.
///
/// Each epoch deals a new permutation of the data set to the nodes (PyTorch's DistributedSampler).
/// `capacity` is the size of the cache over that of the data set.
///
/// keep: after e epochs a node has seen 1 - (1 - 1/n)^e of the data set, and holds that much or its
/// capacity.
/// lru: a sample that comes at u of one epoch and next at v of the k-th after it (0 <= u, v < 1) is
/// still there when no more different samples come in between than fit, which is when
/// (1 - (1-u)/n) (1 - 1/n)^(k-1) (1 - v/n) >= 1 - capacity. On one node that is
/// u (1 - v) >= 1 - c, which holds for c + (1-c) ln(1-c) of all samples.
double cache_hits(CachePolicy policy, double capacity, int nodes, int epoch);

/// Steps of one epoch; 0: it does not end. A short last batch is dropped.
std::int64_t steps_per_epoch(const Scenario& scenario);

}  // namespace stepsim
