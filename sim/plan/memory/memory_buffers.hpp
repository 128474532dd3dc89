// Memory that is neither model state nor activations: what libraries and communication keep.
#pragma once

#include "sim/ops/op_graph.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// The share of the allocated peak that PyTorch's caching allocator holds besides the peak: the
/// median of max_memory_reserved over max_memory_allocated, less 1, of eight Megatron-LM runs on 8
/// B200, 3 to 7 % (MooreThreads/SimuMax@4dcaae5 docs/b200/b200_release_v1.2_summary.json, Llama and
/// DeepSeek rows with 4 micro-batches).
inline constexpr double kFragmentation = 0.047;

/// Bytes of empty gradients, one for each shape of weight on the stage
/// (Training::transformer_impl).
Bytes placeholder_bytes(const Scenario& scenario, const OpGraph& graph, int stage);

/// Bytes of copies of gradients on their way to other ranks. Gradients that stay whole are reduced
/// in place (NVIDIA/Megatron-LM megatron/core/distributed/param_and_grad_buffer.py); sharded ones
/// pass through a bucket, and through a second one when reduction and backward overlap
/// (deepspeedai/DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py, ipg_buffer). DeepSpeed allocates
/// buckets of their full size, however few gradients there are, and reduces a copy of what is in
/// one (the same file, allreduce_bucket, flattens it; stage3.py, whose bucket is one, and
/// deepspeed/runtime/comm/coalesced_collectives.py, reduce_scatter_coalesced). PyTorch's DDP
/// copies all gradients into buckets and back unless told otherwise
/// (gradient_as_bucket_view=False).
Bytes bucket_bytes(const Scenario& scenario, double parameters);

/// NCCL communicators that a rank is part of: one for each group that the scenario uses.
int communicators(const Scenario& scenario);

}  // namespace stepsim
