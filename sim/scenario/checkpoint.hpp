// Checkpoints: how often, what, how, and where to.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/core/quantity.hpp"
#include "sim/scenario/input.hpp"

namespace stepsim {

/// sync: training goes on when all is written; async: when all is copied to the host's memory.
enum class CheckpointMode { sync, async };

/// Storage as checkpoints see it. A limit of 0 is none.
struct CheckpointStorage {
  BytesPerSecond bandwidth;         ///< each node's
  BytesPerSecond shared_bandwidth;  ///< all nodes' together
  BytesPerSecond stream_bandwidth;  ///< each rank's
  StoragePath through = StoragePath::own;
  bool operator==(const CheckpointStorage&) const = default;
};

struct Checkpoint {
  std::int64_t every = 0;  ///< steps, counted from the beginning of the run, warm-up included
  CheckpointMode mode = CheckpointMode::sync;
  bool sharded = true;  ///< every rank writes its part; else one replica writes it all
  /// bytes of a whole checkpoint; absent: parameters and optimizer, from the memory model
  std::optional<Bytes> size;
  std::optional<BytesPerSecond> d2h_bandwidth;  ///< absent: the GPU profile's
  std::optional<CheckpointStorage> storage;     ///< absent: shared with the loaders of the data
  bool operator==(const Checkpoint&) const = default;
};

}  // namespace stepsim
