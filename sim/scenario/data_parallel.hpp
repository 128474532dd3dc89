// What data-parallel ranks share out, and when they exchange gradients and parameters.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/core/quantity.hpp"
#include "sim/scenario/gpu.hpp"
#include "sim/scenario/sharding.hpp"

namespace stepsim {

/// When the next block's parameters are asked for in backward: before or after the kernels of the
/// current one, or when the block is reached.
enum class Prefetch { pre, post, none };

/// Blocks whose parameters are given up after forward and gathered again for backward: all, all but
/// those outside the layers (embedding and head), none.
enum class Reshard { all, layers, none };

/// Which gradients fill buckets first: what backward completes first, or the model's front.
enum class BucketOrder { backward, forward };

/// What a kernel divides by the number of ranks: a bucket, or one gradient, as part of its copy to
/// the bucket where it is copied; collective: no kernel does, for the reduction averages (ncclAvg).
enum class Averaging { bucket, gradient, collective };

/// How ranks train one model on different samples.
struct DataParallel {
  Sharding sharding;          ///< a name of `stepsim list shardings`
  std::optional<int> degree;  ///< when stated it is checked against the cluster
  /// data ranks that share one copy of what is sharded; absent: all of them
  std::optional<int> shard_degree;
  Bytes bucket;                  ///< gradient bucket; default 25 MiB
  Bytes first_bucket;            ///< default: 1 MiB, or bucket where bucket is stated (PyTorch DDP)
  std::optional<Seconds> cycle;  ///< a thread starts reductions so often; absent: at once
  bool overlap = true;           ///< reduce gradients beside the backward pass
  bool offload_optimizer = false;  ///< the CPU keeps its state and updates (ZeRO-Offload)
  bool rebuild_buckets = false;    ///< the first step has one bucket for all (PyTorch DDP)
  bool bucket_views = true;        ///< gradients are computed in their buckets, not copied there
  BucketOrder bucket_order = BucketOrder::backward;
  Averaging averaging = Averaging::bucket;  ///< default: gradient without bucket_views
  /// type that gradients are cast to before a reduction, and cast from behind it; absent: none
  std::optional<Precision> reduce_dtype;
  bool broadcast_buffers = false;   ///< ddp: all get rank 0's running statistics before each step
  bool bucket_later_stages = true;  ///< false: one bucket on later stages and chunks (Megatron-LM)
  bool no_sync = true;  ///< reduce after the last micro-batch only; default: not for zero2, zero3
  bool check_for_nan_in_grad = false;  ///< the host looks at each bucket's norm (Megatron-LM)
  bool all_reduce_gradients = false;   ///< zero1, zero2: ranks get all gradients (DeepSpeed)
  // Where updated parameters are gathered (zero1, zero2):
  bool overlap_param_gather = false;  ///< gather beside the next forward passes (Megatron-LM)
  bool align_param_gather = false;    ///< all stages of a pipeline gather at the same time
  // Where parameters are sharded (zero3):
  bool forward_prefetch = true;  ///< the host asks for the next block before it launches this one
  Prefetch backward_prefetch = Prefetch::pre;
  bool limit_all_gathers = false;  ///< the host waits until at most two blocks are gathered (FSDP1)
  bool limit_reduce_scatters = false;  ///< compute waits for the last block's reduction (FSDP2)
  bool copy_out = false;  ///< gathered parameters are copied from the gather's buffer (FSDP2)
  Reshard reshard_after_forward = Reshard::all;
  bool reshard_after_backward = true;  ///< false: once gathered, kept till a step's last backward

  /// Whether parameters are gathered once in a step.
  bool keeps_gathered() const { return sharding.shards_parameters && !reshard_after_backward; }
  /// elements; smaller parameters stay gathered (DeepSpeed)
  std::int64_t persistence_threshold = 0;
  bool operator==(const DataParallel&) const = default;
};

}  // namespace stepsim
