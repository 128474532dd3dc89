// Keys of `parallelism`.
#pragma once

#include "sim/scenario/describe/frameworks.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

template <class Io>
void describe(Io& io, Pipeline& p) {
  io.field("stages", p.stages, between(1, 4096), "pipeline stages");
  io.field("schedule", p.schedule, any, "a name of `stepsim list schedules`");
  io.field("chunks", p.chunks, between(1, 1024),
           "model chunks per stage; as many as the schedule runs");
  io.fallback(p.overlap_p2p, p.chunks > 1, "true when chunks > 1");
  io.field("overlap_p2p", p.overlap_p2p, any, "send and receive beside compute");
  io.fallback(p.batch_p2p_sync, default_batch_p2p_sync(io.framework(), p.overlap_p2p),
              "false, or the framework's");
  io.field("batch_p2p_sync", p.batch_p2p_sync, any,
           "without overlap_p2p: the host, too, waits for what is sent and received, and launches "
           "the next pass into an idle GPU");
  io.field("scatter_gather", p.scatter_gather, any,
           "tensor ranks send 1/t each and gather in the node; no effect with sequence parallel");
  io.field("layers", p.layers, between(0, 1e5),
           "layers of each stage (each chunk of each stage), in order of the model; the first one "
           "has the embedding besides, the last one layers of multi-token prediction and the head");
}

/// How gradients are joined in buckets and reduced.
template <class Io>
void describe_buckets(Io& io, DataParallel& d, const DataParallel& preset) {
  io.fallback(d.bucket, preset.bucket, "25 MiB, or the framework's");
  io.field("bucket", d.bucket, positive, "gradients reduced in one collective");
  // A stated bucket_cap_mb replaces PyTorch's first bucket (torch/nn/parallel/distributed.py).
  io.fallback(d.first_bucket, io.stated("bucket") ? d.bucket : preset.first_bucket,
              "1 MiB, or bucket where that is stated, or the framework's");
  io.field("first_bucket", d.first_bucket, positive,
           "the first bucket, small so that reduction starts early");
  io.field("cycle", d.cycle, any_duration,
           "how often a thread looks for gradients to reduce (HOROVOD_CYCLE_TIME): a reduction "
           "starts half of it late, on average; absent: at once");
  io.fallback(d.overlap, default_overlap(io.framework(), d.sharding), "true, or the framework's");
  io.field("overlap", d.overlap, any, "reduce gradients beside the backward pass");
  io.field("offload_optimizer", d.offload_optimizer, any,
           "the optimizer's state stays in the CPU's memory, which also updates (ZeRO-Offload)");
  io.fallback(d.rebuild_buckets, preset.rebuild_buckets, "false, or the framework's");
  io.field("rebuild_buckets", d.rebuild_buckets, any,
           "one bucket in the first step of all, the others after it");
  io.fallback(d.bucket_views, preset.bucket_views, "true, or the framework's");
  io.field("bucket_views", d.bucket_views, any,
           "ddp: gradients are computed in their buckets; false: each is copied there, and back "
           "after the reduction, even on one rank; without overlap, all are by one kernel");
  io.field("bucket_order", d.bucket_order, any,
           "whose gradients fill buckets first: those that backward completes first, or those of "
           "the model's front, so that first_bucket is the last to be reduced (PyTorch 1.4)");
  io.field("reduce_dtype", d.reduce_dtype, any,
           "but for zero3, whose gradients are reduced in training.gradients: each bucket is cast "
           "to this type before its reduction and back behind it (PyTorch DDP's "
           "bf16_compress_hook, DeepSpeed's communication_data_type); absent: reduced as kept");
  // PyTorch's reducer leaves the division to a hook, which divides the bucket that it has cast
  // (torch/csrc/distributed/c10d/reducer.cpp, mark_variable_ready_dense;
  // torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py, _compress_hook).
  const Averaging usual = d.bucket_views ? preset.averaging : Averaging::gradient;
  const bool casts = d.reduce_dtype && usual == Averaging::gradient;
  io.fallback(d.averaging, casts ? Averaging::bucket : usual,
              "bucket, gradient without bucket_views, or the framework's; bucket, not gradient, "
              "with reduce_dtype");
  io.field(
      "averaging", d.averaging, any,
      "what a kernel divides by the number of ranks: a bucket (PyTorch 1.4), or each gradient, "
      "while it is copied where it is; collective: the reduction averages (average_in_collective)");
  io.fallback(d.broadcast_buffers, preset.broadcast_buffers && d.sharding.shards() == 0,
              "false, or the framework's with ddp");
  io.field("broadcast_buffers", d.broadcast_buffers, any,
           "ddp: before each step's first pass all get rank 0's running statistics of batch norms, "
           "which are joined, broadcast and copied back one by one, the latter even on one rank");
  io.fallback(d.bucket_later_stages, preset.bucket_later_stages, "true, or the framework's");
  io.field("bucket_later_stages", d.bucket_later_stages, any,
           "false: one bucket for each part (chunk of a stage) but the first");
}

/// When gradients are reduced, and when updated parameters are gathered.
template <class Io>
void describe_updates(Io& io, DataParallel& d, const DataParallel& preset) {
  io.fallback(d.no_sync, default_no_sync(io.framework(), d.sharding),
              "true for ddp and zero1, or the framework's");
  io.field("no_sync", d.no_sync, any,
           "gradients are reduced after the last micro-batch only, not after each");
  io.fallback(d.check_for_nan_in_grad, preset.check_for_nan_in_grad, "false, or the framework's");
  io.field("check_for_nan_in_grad", d.check_for_nan_in_grad, any,
           "but for zero3: before each reduction the host reads the norm of its gradients, and "
           "launches nothing until that is known");
  io.fallback(d.all_reduce_gradients, preset.all_reduce_gradients, "false, or the framework's");
  io.field("all_reduce_gradients", d.all_reduce_gradients, any,
           "zero1 and zero2: each rank gets all averaged gradients, not its share of them, as "
           "DeepSpeed's stages 1 and 2 have it");
  io.field("overlap_param_gather", d.overlap_param_gather, any,
           "zero1 and zero2 that overlap: updated parameters are gathered bucket by bucket in the "
           "next step's first forward pass, each bucket while the one before is used; false: all "
           "at once, behind the update");
  io.field("align_param_gather", d.align_param_gather, any,
           "overlap_param_gather: chunks of a pipeline are asked for a chunk ahead, by all stages "
           "at the same time; without chunks a bucket is asked for where it is needed");
}

/// How sharded parameters are gathered and given up.
template <class Io>
void describe_gathers(Io& io, DataParallel& d, const DataParallel& preset) {
  io.fallback(d.forward_prefetch, preset.forward_prefetch, "true, or the framework's");
  io.field("forward_prefetch", d.forward_prefetch, any,
           "zero3: the next block is asked for before the kernels of the current one, not after; "
           "false with scan_layers: tensor by tensor, in the pass that uses them, as XLA does "
           "without pipelining of collectives");
  io.fallback(d.backward_prefetch, preset.backward_prefetch, "pre");
  io.field("backward_prefetch", d.backward_prefetch, any,
           "zero3: pre: in backward, too; post: after the kernels of the current one; none: each "
           "block is "
           "gathered when it is reached");
  io.fallback(d.limit_all_gathers, preset.limit_all_gathers, "false, or the framework's");
  io.field("limit_all_gathers", d.limit_all_gathers, any,
           "zero3: the host waits for blocks to be done before it asks for more");
  io.fallback(d.limit_reduce_scatters, preset.limit_reduce_scatters, "false, or the framework's");
  io.field("limit_reduce_scatters", d.limit_reduce_scatters, any,
           "zero3: a block's reduction waits, with all compute after it, for the one before");
  io.fallback(d.copy_out, preset.copy_out, "false, or the framework's");
  io.field(
      "copy_out", d.copy_out, any,
      "zero3: a block's gathered parameters are copied from the buffer that they were gathered "
      "in to tensors of their own");
  io.fallback(d.reshard_after_forward, preset.reshard_after_forward, "all, or the framework's");
  io.field("reshard_after_forward", d.reshard_after_forward, any,
           "zero3: blocks that are gathered again for backward; layers: not embedding and head");
  io.field(
      "reshard_after_backward", d.reshard_after_backward, any,
      "zero3 with reshard_after_forward: none; false: a step's first forward pass gathers, and "
      "parameters stay until its last backward pass, behind which, beside pipeline stages, "
      "gradients are reduced (PyTorch's set_reshard_after_backward and its pipelines)");
  io.fallback(d.persistence_threshold, preset.persistence_threshold, "0, or the framework's");
  io.field("persistence_threshold", d.persistence_threshold, between(0, 1e12),
           "zero3: parameters of fewer elements stay gathered through the step");
}

template <class Io>
void describe(Io& io, DataParallel& d) {
  // What the framework does where the file is silent; without one, the defaults of scenario.hpp.
  const DataParallel preset = default_data(io.framework());
  io.fallback(d.sharding, preset.sharding, "ddp, or the framework's");
  io.field("sharding", d.sharding, any, "what is split over the data-parallel ranks");
  io.field("degree", d.degree, any_count, "when stated it is checked against the cluster");
  io.field("shard_degree", d.shard_degree, between(2, 1e6),
           "neighbouring data ranks that share one copy of what is sharded, replicated over the "
           "others; absent: all");
  describe_buckets(io, d, preset);
  describe_updates(io, d, preset);
  describe_gathers(io, d, preset);
}

template <class Io>
void describe(Io& io, ContextParallel& c) {
  io.field("degree", c.degree, between(1, 4096), "ranks that share each sequence");
  io.field("kind", c.kind, any,
           "in attention keys and values go around a ring or are gathered; all_to_all: heads are "
           "split instead");
}

template <class Io>
void describe(Io& io, ExpertParallel& e) {
  io.field("degree", e.degree, between(1, 4096),
           "ranks that share the experts of a layer: context and data ranks; tensor ranks, too, "
           "where those of `tensor` below are fewer than split other layers");
  io.fallback(e.tensor, e.tensor, "as parallelism.tensor");
  io.field("tensor", e.tensor, between(1, 4096),
           "ranks that share each expert (Megatron-LM's --expert-tensor-parallel-size): experts "
           "have a mesh of their own over all ranks of a stage, of so many times degree ranks");
  io.field("capacity", e.capacity, positive,
           "each expert gets this many times its fair share of tokens, padded or dropped; absent: "
           "dropless");
  io.field("imbalance", e.imbalance, between(1, 1e5),
           "dropless: tokens of the busiest rank over the average");
  io.field("load_variation", e.load_variation, between(0, 100),
           "dropless: standard deviation of the experts' tokens over their mean, as logs of "
           "routers have it; the busiest of so many ranks with so many experts follows from it");
  io.field("dispatcher", e.dispatcher, any,
           "how tokens reach their experts: NCCL's all-to-all, with a row for each expert of a "
           "token; NCCL's all-gather of all tokens; or kernels of DeepEP or HybridEP, with a row "
           "for each rank that has such experts, of which one crosses to each node");
  io.field("fp8_dispatch", e.fp8_dispatch, any,
           "tokens go to their experts, and gradients of outputs back to them, in fp8 with a scale "
           "for each 128 numbers");
  io.fallback(e.sms, e.sms,
              "20 for deepep, 16 for hybrid_ep; else NCCL's channels, which no kernel allows for");
  io.field("sms", e.sms, between(1, 1000),
           "SMs that an exchange holds, and that kernels beside it leave to it");
  io.fallback(e.overlap, e.overlap, "true for dualpipe");
  io.field("overlap", e.overlap, any,
           "exchanges of a forward pass run beside kernels of a backward pass and the other way "
           "round, in pairs of passes: of dualpipe, and of interleaved and one stage, which then "
           "run one forward pass ahead (Megatron-LM's --overlap-moe-expert-parallel-comm)");
  io.field("overlap_shared", e.overlap_shared, any,
           "shared experts run beside the exchanges of the others (Megatron-LM's "
           "--moe-shared-expert-overlap)");
  io.fallback(e.host_waits, e.host_waits, "true without a capacity, except compiled by XLA");
  io.field("host_waits", e.host_waits, any,
           "in each forward pass of a layer the host waits for the numbers of tokens that experts "
           "get, before it launches the exchange and the products that they decide; false: as "
           "dispatchers with buffers of fixed size");
  io.field("delay_wgrad", e.delay_wgrad, any,
           "experts' weight gradients are computed while the gradients of their inputs go back to "
           "their ranks (Megatron-LM's --delay-wgrad-compute and "
           "--overlap-dispatch-backward-with-experts-wgrad)");
  io.field("router_fusion", e.router_fusion, any,
           "scores, the top k and the map of a router are a few fused kernels (Megatron-LM's "
           "--moe-router-fusion); false: some forty of PyTorch, those of an auxiliary loss among "
           "them");
  io.field("permute_fusion", e.permute_fusion, any,
           "rows are put in order of experts by kernels made for it (Megatron-LM's "
           "--moe-permute-fusion); false: by PyTorch's indexing, which adds rows up atomically");
  io.field("router_padding", e.router_padding, any,
           "fp8: the router adds tokens, so that experts get the multiples of rows that products "
           "want (Megatron-LM's --moe-router-padding-for-quantization); false: rows are copied "
           "before experts and behind them where Transformer Engine multiplies");
  io.field(
      "grouped_kernel", e.grouped_kernel, any,
      "with transformer_impl transformer_engine: one kernel multiplies, and one casts, for all "
      "experts of a rank (Megatron-LM's --moe-use-grouped-tensor); false: one for each expert");
}

template <class Io>
void describe(Io& io, Parallelism& p) {
  io.field("order", p.order, any, "which ranks are neighbours, fastest first; Megatron-LM's words");
  io.field("tensor", p.tensor, between(1, 4096), "tensor-parallel ranks");
  io.field("sequence", p.sequence, any,
           "sequence-parallel regions between the tensor-parallel ones");
  io.field("overlap_tensor", p.overlap_tensor, any,
           "hide backward collectives under weight-gradient GEMMs");
  io.field(
      "split_products", p.split_products, any,
      "with sequence: products are cut into pieces, beside which tensor ranks exchange operands "
      "and results: user_buffers, as Transformer Engine's (Megatron-LM's --tp-comm-overlap); "
      "async_tp, as PyTorch's asynchronous tensor parallelism; flux, within one kernel, as "
      "ByteDance's Flux");
  io.fallback(p.dtensor, default_dtensor(io.framework(), p.tensor), "false, or the framework's");
  io.field("dtensor", p.dtensor, any,
           "sequence-parallel tensors are [batch, tokens, hidden], as PyTorch's DTensor has them: "
           "copied behind each gather and before each scatter, kept as they were gathered, and "
           "never hidden; false: Megatron-LM's need no copies, and are gathered again for weights' "
           "gradients");
  io.field(
      "gather_each", p.gather_each, any,
      "with dtensor: linear layers of one input (queries, keys and values; gate and up) gather "
      "it for themselves, keep it, and scatter its gradient, as PyTorch's ColwiseParallel does "
      "where its input is split; false: once for all, as with PrepareModuleInput");
  io.section("context", "degree", p.context, "sequences split over ranks, in attention too");
  io.section("expert", "degree", p.expert, "experts dealt to ranks");
  io.field("split_tower", p.split_tower, any,
           "tensor ranks split a vision tower as the decoder (Megatron-Bridge's Qwen3-VL); false: "
           "each runs all of it (its Qwen2.5-VL and Gemma 3, which have Hugging Face's tower)");
  io.field("embedding", p.embedding, any,
           "a DLRM's tables lie on the data-parallel ranks whole, or each by its rows");
  io.field(
      "bottom_mlp", p.bottom_mlp, any,
      "a DLRM's bottom MLP runs on each rank for its own samples, or on the first for those of "
      "all, without tables where there are more than 4 ranks, as in NVIDIA's DLRM");
  io.section("pipeline", "stages", p.pipeline, "layers split into stages");
  io.section("data", p.data, "the same model on different samples");
}

}  // namespace stepsim
