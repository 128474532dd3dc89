// Parameters that a sharded optimizer has updated, gathered beside the next step's forward passes
// and not behind the update: those of each gradient bucket by one gather (NVIDIA/Megatron-LM
// megatron/core/distributed/distributed_data_parallel.py, _make_forward_pre_hook;
// param_and_grad_buffer.py, finish_param_sync).
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sim/plan/pass/pass_writer.hpp"

namespace stepsim {

/// Whether the ranks' first forward pass of a step finds parameters on their way.
bool gathers_beside_forward(const Scenario& scenario, const StageShape& shape);

/// When they are asked for: with pipelines of several chunks and align_param_gather before the
/// pass (param_sync_func of megatron/core/pipeline_parallel/schedules.py), without chunks then
/// where they are needed.
ParameterGather when_gathered(const Parallelism& split);

/// The parameters of a bucket.
struct ParameterBucket {
  ParameterGroup group;
  std::size_t tensors = 0;  ///< how many, in the order in which forward passes need them
  double elements = 0;
  double quantised = 0;  ///< elements that are gathered in fp8
  double times = 1;      ///< as many bytes, with padding, are gathered
  Bytes bytes(const Training& training) const;
};

/// Buckets of the chunk's parameters that other ranks hold shards of: what forward needs first
/// comes first, experts' after all others. `reduction`: how the chunk's gradients are reduced.
std::vector<ParameterBucket> parameter_buckets(const PlanDraft& draft, const StageShape& shape,
                                               const std::vector<std::size_t>& blocks,
                                               Reduction reduction);

/// A forward pass that waits for its parameters, op by op.
class ParameterArrivals {
 public:
  /// Where they were asked for before the pass, bucket i has slot i of the segment.
  ParameterArrivals(PassWriter& writer, PlanDraft& draft, std::vector<ParameterBucket> buckets,
                    ParameterGather gather);

  /// What comes next is that op.
  void before(const Op& op);

 private:
  void arrive(std::size_t bucket);
  void ask(std::size_t bucket);

  PassWriter& writer_;
  PlanDraft& draft_;
  std::vector<ParameterBucket> buckets_;
  ParameterGather gather_;
  std::vector<int> slots_;            ///< by bucket; -1: it has not been asked for yet
  std::array<std::size_t, 2> next_;   ///< bucket of others' parameters, of experts'
  std::array<std::size_t, 2> there_;  ///< tensors in buckets before that
  std::array<std::size_t, 2> needed_ = {};
  std::array<std::size_t, 2> end_;
};

}  // namespace stepsim
