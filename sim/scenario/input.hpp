// Where samples come from: storage, loader processes, copies to the GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/core/distribution.hpp"
#include "sim/core/quantity.hpp"

namespace stepsim {

/// Kinds of storage whose numbers are known (storage_tier.hpp); custom has stated ones.
enum class StorageTier { custom, object_store, shared_filesystem, local_nvme, page_cache };

/// How reads reach a node: beside the fabric, or through the NICs that collectives use, too.
enum class StoragePath { own, fabric };

/// What stays in a node's page cache: what was read last, or what was read first, for good.
enum class CachePolicy { lru, keep };

/// Where samples are decoded: in a loader, or on the GPU (NVIDIA DALI).
enum class Decoder { cpu, gpu };

/// Storage as loaders see it. A limit of 0 is none.
struct Storage {
  StorageTier tier = StorageTier::custom;
  BytesPerSecond bandwidth;         ///< each node's; 0: reads move no bytes
  BytesPerSecond shared_bandwidth;  ///< all nodes' together
  BytesPerSecond stream_bandwidth;  ///< each read's: a connection, a file
  Seconds latency;                  ///< until a read begins to arrive
  double iops = 0;                  ///< reads a second, each node's
  double shared_iops = 0;           ///< reads a second, all nodes' together
  double samples_per_read = 1;      ///< 1: a file each; more: shards
  StoragePath through = StoragePath::own;
  Bytes page_cache;                     ///< memory of a node that keeps what was read
  BytesPerSecond page_cache_bandwidth;  ///< at which a node's loaders read it again
  CachePolicy cache_policy = CachePolicy::lru;
  bool operator==(const Storage&) const = default;
};

/// Samples differ: the CPU time of each is multiplied by a draw.
struct Variation {
  std::string distribution = "lognormal";  ///< a name of `stepsim list distributions`
  Spread spread;
  bool operator==(const Variation&) const = default;
};

/// Where the samples come from.
struct Input {
  Storage storage;
  Bytes sample_size;  ///< read per sequence or sample
  /// copied to the GPU per sequence or sample; default: 8 B a token, or the sample size
  Bytes device_bytes;
  std::int64_t samples = 0;  ///< in the data set: an epoch; 0: epochs never end
  int first_epoch = 0;       ///< the epoch that the run starts in; 0: nothing was read before
  int workers = 2;           ///< loader processes per loading GPU; 0: in the main process
  int prefetch = 2;          ///< batches in flight per worker
  bool persistent_workers = false;  ///< workers live on from epoch to epoch
  Seconds worker_start;             ///< until a new worker takes its first batch
  Decoder decode_on = Decoder::cpu;
  Seconds decode;                                ///< a worker's or the GPU's time per sample
  std::optional<BytesPerSecond> decode_rate;     ///< bytes decoded a second, besides
  Seconds transform;                             ///< a worker's time per sample, besides
  std::optional<BytesPerSecond> transform_rate;  ///< bytes transformed a second, besides
  std::optional<Variation> variation;            ///< absent: all samples are alike
  Bytes worker_memory;                           ///< a worker's without its batches
  std::optional<Bytes> host_memory;              ///< a node's, for its loaders; absent: not checked
  bool pinned = true;
  bool non_blocking = true;                     ///< the host does not wait for pinned copies
  std::optional<BytesPerSecond> pin_bandwidth;  ///< the pinning thread's; absent: pinning is free
  std::optional<BytesPerSecond> h2d_bandwidth;  ///< absent: the GPU profile's
  bool operator==(const Input&) const = default;
};

}  // namespace stepsim
