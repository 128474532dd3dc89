// The least time and memory that a strategy can take, without simulating it.
//
// No strategy is ever faster than its bound, nor does it need less memory, so that what a bound
// rules out is ruled out. Time: each stage waits for the first micro-batch to come through the
// stages before it, does its own passes, and the last gradient goes back through the same stages;
// then comes the end of the step. On the way a pass takes what its kernels take and what it waits
// for in collectives that nobody disturbs (block_costs.hpp). Memory: parameters, gradients and
// optimizer state, what the passes in flight have saved, and what the next backward pass holds.
#pragma once

#include <memory>

#include "sim/search/block_costs.hpp"
#include "sim/search/schedule_facts.hpp"
#include "sim/search/space.hpp"

namespace stepsim {

/// What a strategy takes at least.
struct Bound {
  Seconds step;
  Bytes memory;  ///< what the stage that needs most holds
};

/// Finds bounds of strategies, and keeps what strategies share.
class Bounds {
 public:
  explicit Bounds(const SearchBase& base);
  ~Bounds();
  Bounds(const Bounds&) = delete;
  Bounds& operator=(const Bounds&) = delete;

  /// REQUIRES: the reader accepts the strategy.
  Bound of(const Strategy& strategy);
  /// A closer bound, which takes longer to find: with the order of all passes
  /// (stage_finish_times.hpp).
  Bound refined(const Strategy& strategy);

 private:
  struct Known;
  std::unique_ptr<Known> known_;
};

}  // namespace stepsim
