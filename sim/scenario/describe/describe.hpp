// The one description of every map in a scenario: keys, defaults, ranges and meaning.
//
// `describe(io, value)` is called with a MapReader (fills the value), a MapWriter (writes it as
// YAML) or a DocWriter (makes a table of it). So what is read, written and documented cannot drift
// apart. Keys are read in the order in which they stand here: a default may depend on the keys
// above it (`fallback`).
#pragma once

#include <string>
#include <string_view>

#include "sim/scenario/describe/describe_checkpoint.hpp"
#include "sim/scenario/describe/describe_cluster.hpp"
#include "sim/scenario/describe/describe_faults.hpp"
#include "sim/scenario/describe/describe_horizon.hpp"
#include "sim/scenario/describe/describe_host.hpp"
#include "sim/scenario/describe/describe_input.hpp"
#include "sim/scenario/describe/describe_model.hpp"
#include "sim/scenario/describe/frameworks.hpp"
#include "sim/scenario/describe/run_defaults.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

template <class Io>
void describe(Io& io, Recomputation& r) {
  io.field("kind", r.kind, any, "selective: modules of each layer; full: whole layers");
  io.fallback(r.modules, r.modules, "[core_attention]");
  io.field(
      "modules", r.modules, any,
      "selective: what is computed again; Megatron-LM's --recompute-modules, attention with the "
      "product and the sum behind it, an MLP but for its last product (mlp_up), or torchtitan's "
      "selective_ac_option op, which keeps attention and every second matrix product");
  io.field("method", r.method, any,
           "full: uniform: all layers, in groups; block: the first layers of each chunk");
  io.field("layers", r.layers, between(1, 1e5),
           "full: of a group, whose first input alone is kept; or of each chunk");
  io.field("early_stop", r.early_stop, any,
           "full: ends with the last tensor that backward needs, before the layer's last GEMM, as "
           "PyTorch's checkpoint does from 2.1 on");
}

template <class Io>
void describe(Io& io, Lora& l) {
  io.field("rank", l.rank, required(between(1, 65536)),
           "of an adapter's two matrices; NeMo's dim, PEFT's r");
  io.fallback(l.target_modules, l.target_modules,
              "[linear_qkv, linear_proj, linear_fc1, linear_fc2]");
  io.field("target_modules", l.target_modules, any,
           "linear layers that have an adapter, named as in NeMo: linear_qkv, by one adapter or, "
           "with fused_qkv false, by one for each of the three; linear_q, linear_k and linear_v, "
           "PEFT's q_proj, k_proj and v_proj, for fused_qkv false; linear_proj behind attention; "
           "linear_fc1 and linear_fc2 of the MLP");
  io.field("dropout", l.dropout, any, "of an adapter's input");
  io.field("all_to_all", l.all_to_all, any,
           "with sequence parallelism outputs of adapters beside linear_proj and linear_fc2 come "
           "to their tokens' ranks by an all-to-all, NeMo's a2a_experimental; false: all ranks "
           "gather them and keep their part");
}

template <class Io>
void describe(Io& io, Training& t) {
  io.field("sequence_length", t.sequence_length, between(0, 1e8),
           "tokens per sequence; required for transformers of text");
  io.field("decoder_sequence_length", t.decoder_sequence_length, between(0, 1e8),
           "tokens per target sequence of an encoder-decoder model; 0: as sequence_length");
  io.field("global_batch", t.global_batch, required(large_count),
           "sequences or samples per step, all ranks together");
  io.field("micro_batch", t.micro_batch, between(1, 1e6),
           "sequences or samples per pass of one rank");
  io.field(
      "precision", t.precision, any,
      "type of the GEMMs, which the GPU's profile must have; fp8: of linear layers, the rest is "
      "bf16");
  io.field(
      "fp8_scaling", t.fp8_scaling, any,
      "where fp8 tensors have their scales from: earlier steps, themselves, or each block of 32 "
      "elements");
  io.field("reduce_amax", t.reduce_amax, any,
           "delayed scaling: tensor-, context- and data-parallel ranks agree on scales after each "
           "pass, as Transformer Engine's do, or only tensor-parallel ones, or none; absent: all");
  io.field(
      "fp8_parameters", t.fp8_parameters, any,
      "those of linear layers are updated and gathered in fp8 by zero1 and zero2, as Megatron-"
      "LM's --fp8-param-gather; by zero3 each rank casts its share and fp8 is gathered, as XLA's "
      "collective quantizer makes of it; memory is counted as without. With lora: frozen ones are "
      "kept in fp8 alone, also by ddp, and transposed in each backward pass where products need "
      "that");
  io.fallback(t.gradients, default_gradients(io.framework(), storage_of(t.precision)),
              "as precision, bf16 with fp8; or the framework's");
  io.field("gradients", t.gradients, any, "type that gradients are kept and reduced in");
  io.fallback(t.fused_accumulation, default_fused_accumulation(io.framework()),
              "true, or the framework's");
  io.field("fused_accumulation", t.fused_accumulation, any,
           "weight-gradient GEMMs add to the gradients of earlier micro-batches, as Megatron-LM's "
           "gradient_accumulation_fusion; false: a kernel of its own does");
  io.fallback(t.per_micro_batch, t.per_micro_batch, "none");
  io.field(
      "per_micro_batch", t.per_micro_batch, any,
      "what is done to the gradients of each micro-batch before they are added, and not once a "
      "step: scaled back, searched for infinities, clipped by their norm");
  io.field("fp32_batch_norms", t.fp32_batch_norms, any,
           "parameters of batch norms stay fp32 where gradients are narrower, so that theirs are "
           "reduced by a collective of their own, as Horovod joins those of one type; not with "
           "overlap. Their other traffic is counted as that of the rest");
  io.field("master_weights", t.master_weights, any,
           "the optimizer keeps fp32 copies of 16-bit parameters");
  io.field("optimizer", t.optimizer, any, "a name of `stepsim list optimizers`");
  io.field("optimizer_kernels", t.optimizer_kernels, any,
           "fused: as few as possible for all parameters; foreach: one an operation; per_tensor: "
           "one an operation and tensor; composed: one an elementary operation and tensor, as in "
           "TensorFlow without XLA");
  io.field(
      "casts_in_update", t.casts_in_update, any,
      "optimizer_kernels fused: the update reads 16-bit gradients, scales them back and writes "
      "16-bit weights in its kernel, as MXNet's multi-precision updates and Apex's FusedSGD; "
      "false: kernels of their own do");
  io.field(
      "weight_decay", t.weight_decay, any,
      "weights decay, which is a kernel of its own where those of the optimizer are not fused");
  io.fallback(t.used_gradients, default_used_gradients(io.framework()),
              "clear_buffer, or the framework's");
  io.field("used_gradients", t.used_gradients, any,
           "what becomes of them after the update: clear_buffer: one kernel clears all; "
           "clear_tensors: one a tensor does, as PyTorch's zero_grad() before 2.0; free: they are "
           "freed, as since; keep: nothing. Where they are not cleared as one or freed, even the "
           "first micro-batch of a step adds to them");
  io.field("gradient_clipping", t.gradient_clipping, any,
           "by global norm: one small all-reduce over all model ranks");
  io.section("recompute", "kind", t.recompute,
             "activations computed again in the backward pass; a word is its kind");
  io.field("fusion", t.fusion, any,
           "element-wise kernels: none, one an operation; fused, as Megatron-LM's; compiled, as "
           "torch.compile's; xla, as XLA's on GPUs");
  io.field("bias_dropout_fusion", t.bias_dropout_fusion, any,
           "fusion fused: bias, dropout and residual sum are one kernel; false: one each, as by "
           "Megatron-LM's --no-bias-dropout-fusion, and where PyTorch's legacy fuser meets PyTorch "
           "1.11 or later");
  io.fallback(t.composed, t.composed, "none");
  io.field("composed", t.composed, any,
           "operations that are written in elementary ones, each of which is a kernel, as in "
           "TensorFlow without XLA; fusion none only");
  io.fallback(t.scalar_loads, t.scalar_loads, "none");
  io.field("scalar_loads", t.scalar_loads, any,
           "kernels that load 16-bit tensors one element at a time, as libraries' did until about "
           "2020, and take up to twice as long; not those that are compiled");
  io.fallback(t.fp32_parts, t.fp32_parts, "none");
  io.field("fp32_parts", t.fp32_parts, any,
           "what works in fp32 where precision is of 16 bits, between casts from them and back, as "
           "automatic mixed precision has it");
  io.field("attention", t.attention, any,
           "unfused, as Megatron-LM's; eager, with copies of queries, keys, values and the result, "
           "as Hugging Face's; or a kernel that the GPU has: `stepsim list attention`");
  io.field(
      "fused_qkv", t.fused_qkv, any,
      "queries, keys and values by one linear layer, as in Megatron-LM; false: by one each, as "
      "in Hugging Face's models, whose three input gradients are summed");
  io.field(
      "cublas", t.cublas, between(9, 99),
      "major version; before 11 products of 16-bit rows of even widths that are not multiples of "
      "8 elements run without tensor cores, as in fp32");
  io.field("transformer_impl", t.transformer_impl, any,
           "whose linear layers, as in Megatron-LM; those of Transformer Engine keep an empty "
           "gradient for each shape of weight");
  io.fallback(t.vocabulary_multiple, default_vocabulary_multiple(io.framework()),
              "the framework's, or 128 with tensor parallelism, else 1");
  io.field("vocabulary_multiple", t.vocabulary_multiple, between(1, 65536),
           "tables and logits have a multiple of so many rows on each tensor rank, as by "
           "Megatron-LM's make-vocab-size-divisible-by");
  io.field("embedding_lookup", t.embedding_lookup, any,
           "of tokens and positions: by index, or as products of one-hot vectors with the tables, "
           "as Pax has by default");
  io.field(
      "cross_entropy", t.cross_entropy, any,
      "whose kernels compute the loss: Megatron-LM's unfused ones, PyTorch's, the fused ones "
      "of Apex and flash-attn, or those of Transformer Engine; PyTorch's and the fused ones need "
      "whole tokens: where ranks split the vocabulary, parallelism.dtensor gathers the logits");
  io.field("loss_metrics", t.loss_metrics, between(0, 16),
           "losses computed again after each forward pass, to be reported (Composer: 2)");
  io.field("eager_loss", t.eager_loss, any,
           "fusion compiled: the loss is not, as where torch.compile has each layer alone, and as "
           "where tensor ranks split the vocabulary in any case");
  io.field("scan_layers", t.scan_layers, any,
           "a loop runs equal layers, as JAX's lax.scan: outputs of products and of a fused "
           "attention that backward needs are copied into an array over all layers, and out of it");
  io.section("lora", t.lora, Lora{},
             "adapters alone are trained: weights are frozen, have no gradients and no optimizer "
             "state; the embedding and the first adapted layer's input need no gradient; a "
             "checkpoint has the adapters. Absent: all weights are trained");
}

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
  io.field("layers", p.layers, between(1, 1e5),
           "layers of each stage (each chunk of each stage), in order of the model");
}

/// How zero3 gathers and gives up parameters.
template <class Io>
void describe_gathers(Io& io, DataParallel& d, const DataParallel& preset) {
  io.fallback(d.forward_prefetch, preset.forward_prefetch, "true, or the framework's");
  io.field("forward_prefetch", d.forward_prefetch, any,
           "zero3: the next block is asked for before the kernels of the current one, not after; "
           "false with scan_layers: tensor by tensor, in the pass that uses them, as XLA does "
           "without pipelining of collectives");
  io.fallback(d.backward_prefetch, preset.backward_prefetch, "pre");
  io.field("backward_prefetch", d.backward_prefetch, any,
           "zero3: likewise in backward; none: each block is gathered when it is reached");
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
  io.field(
      "loop_copies", d.loop_copies, any,
      "zero3 with scan_layers and prefetch: what one iteration of the loop gathers, or leaves to "
      "be reduced, for the next is copied into the loop's own buffers, as XLA does where it does "
      "not unroll the loop by two (xla_gpu_enable_while_loop_double_buffering)");
  io.fallback(d.reshard_after_forward, preset.reshard_after_forward, "all, or the framework's");
  io.field("reshard_after_forward", d.reshard_after_forward, any,
           "zero3: blocks that are gathered again for backward; layers: not embedding and head");
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
  io.fallback(d.averaging, d.bucket_views ? preset.averaging : Averaging::gradient,
              "bucket, gradient without bucket_views, or the framework's");
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
           "zero1: each rank gets all averaged gradients, not its share of them, as DeepSpeed's "
           "stage 1 has it");
  io.field("overlap_param_gather", d.overlap_param_gather, any,
           "zero1 and zero2 that overlap: updated parameters are gathered bucket by bucket in the "
           "next step's first forward pass, each bucket while the one before is used; false: all "
           "at once, behind the update");
  io.field("align_param_gather", d.align_param_gather, any,
           "overlap_param_gather: chunks of a pipeline are asked for a chunk ahead, by all stages "
           "at the same time; without chunks a bucket is asked for where it is needed");
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
  io.field("degree", e.degree, between(1, 4096), "context and data ranks that share the experts");
  io.field("capacity", e.capacity, positive,
           "each expert gets this many times its fair share of tokens, padded or dropped; absent: "
           "dropless");
  io.field("imbalance", e.imbalance, between(1, 1e5),
           "dropless: tokens of the busiest rank over the average");
  io.field("dispatcher", e.dispatcher, any,
           "whose kernels exchange tokens: NCCL's, with a row for each expert of a token; or "
           "DeepEP's, with one for each rank that has such experts, of which one crosses to each "
           "node");
  io.field("nodes", e.nodes, between(1, 4096),
           "deepep: nodes that have experts of one token, at most, as a router that is limited to "
           "groups of experts has it; absent: any");
  io.field("fp8_dispatch", e.fp8_dispatch, any,
           "tokens go to their experts, and gradients of outputs back to them, in fp8 with a scale "
           "for each 128 numbers");
  io.fallback(e.sms, e.sms,
              "20 for deepep; all_to_all: NCCL's channels, which no kernel allows for");
  io.field("sms", e.sms, between(1, 1000),
           "SMs that an exchange holds, and that kernels beside it leave to it");
  io.fallback(e.overlap, e.overlap, "true for dualpipe");
  io.field("overlap", e.overlap, any,
           "exchanges of a forward pass run beside kernels of a backward pass and the other way "
           "round, in pairs of passes: of dualpipe, and of interleaved and one stage, which then "
           "run one forward pass ahead (Megatron-LM's --overlap-moe-expert-parallel-comm)");
}

template <class Io>
void describe(Io& io, Parallelism& p) {
  io.field("order", p.order, any, "which ranks are neighbours, fastest first; Megatron-LM's words");
  io.field("tensor", p.tensor, between(1, 4096), "tensor-parallel ranks");
  io.field("sequence", p.sequence, any,
           "sequence-parallel regions between the tensor-parallel ones");
  io.field("overlap_tensor", p.overlap_tensor, any,
           "hide backward collectives under weight-gradient GEMMs");
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
  io.section("context", p.context, "sequences split over ranks, in attention too");
  io.section("expert", p.expert, "experts split over context and data ranks");
  io.field("embedding", p.embedding, any,
           "a DLRM's tables lie on the data-parallel ranks whole, or each by its rows");
  io.field(
      "bottom_mlp", p.bottom_mlp, any,
      "a DLRM's bottom MLP runs on each rank for its own samples, or on the first for those of "
      "all, without tables where there are more than 4 ranks, as in NVIDIA's DLRM");
  io.section("pipeline", p.pipeline, "layers split into stages");
  io.section("data", p.data, "the same model on different samples");
}

template <class Io>
void describe(Io& io, CollectiveChoice& c) {
  io.field("algorithm", c.algorithm, any,
           "a name of `stepsim list collectives`; auto: NCCL's choice");
  io.field("protocol", c.protocol, any, "of NCCL; absent: its choice");
}

template <class Io>
void describe(Io& io, Collectives& c) {
  io.field("nccl", c.nccl, any, "release whose cost model chooses, docs/collectives.md");
  io.section("all_reduce", "algorithm", c.all_reduce, "how all-reduces run");
  io.section("all_gather", "algorithm", c.all_gather, "likewise");
  io.section("reduce_scatter", "algorithm", c.reduce_scatter, "likewise");
  io.section("all_to_all", "algorithm", c.all_to_all, "likewise");
}

template <class Io>
void describe(Io& io, Run& r) {
  const std::string_view more = "; more with `data`: two turns of the loaders' queue";
  io.fallback(
      r.steps, r.steps,
      "2" + std::string(more) + "; whole periods of `checkpoint` and of what `host` repeats");
  io.field("steps", r.steps, between(1, 10'000), "steps that are measured");
  io.fallback(r.warmup, r.warmup, "1" + std::string(more) + "; a period of `checkpoint`");
  io.field("warmup", r.warmup, between(0, 10'000), "steps before them");
  io.field("seed", r.seed, any,
           "of all that is random: `faults` with a fraction or jitter, `data.variation`");
  io.field("replicas", r.replicas, between(1, 100'000),
           "runs that differ in what is random; the report has their mean, median and spread");
  io.field("horizon", r.horizon, any,
           "how far a run of many steps goes, drawn from those that are simulated: \"7 days\", "
           "\"10000 steps\"; absent: none is reported");
  io.fallback(r.flops, r.flops, "megatron; gemms for models that are no transformer");
  io.field("flops", r.flops, any,
           "which FLOPs MFU, HFU and TFLOP/s count: a name of `stepsim list conventions`");
}

template <class Io>
void describe(Io& io, Cost& c) {
  io.field("price", c.price, required(between(0, 1e6)),
           "rent of one GPU with its share of node, network and storage");
}

template <class Io>
void describe(Io& io, Scenario& s) {
  io.fallback(s.name, s.name, "the file's name");
  io.field("name", s.name, any, "of the scenario, in reports");
  io.field("description", s.description, any, "free text");
  io.field("framework", s.framework, any,
           "whose defaults hold where the scenario is silent: docs/frameworks.md");
  io.adopt(s.framework);
  io.part("model", s.model,
          "a name in models/, a path to a .yaml or to a Hugging Face config.json, or a map; {base: "
          "name, layers: 4} changes one");
  io.part("cluster", s.cluster,
          "a name in scenarios/clusters/, a path to a .yaml, or a map; {base: name, nodes: 128} "
          "changes one");
  io.section("training", s.training, "how it is trained");
  io.section("parallelism", s.parallelism, "how it is split");
  if (io.framework()) size_buckets(s);
  io.section("collectives", s.collectives, "how ranks talk");
  io.section("data", s.data, input_defaults(s),
             "where samples come from; absent: input is never waited for");
  io.section("checkpoint", s.checkpoint, Checkpoint{},
             "the state of training, written every so many steps; absent: never");
  io.section("host", s.host, "the CPU that launches kernels");
  io.section("faults", s.faults, "what is not as it should be");
  io.section("reliability", s.reliability, Reliability{},
             "what interrupts a run of many days (run.horizon); absent: as Llama 3 405B was");
  io.section("cost", s.cost, Cost{}, "what the GPUs cost; absent: reports have no prices");
  io.fallback(s.run, run_defaults(s), "");
  io.section("run", s.run, "what is simulated");
  io.expectations("expect", s.expect, "what the result must be, as in `step_time: \"<= 4.6 s\"`");
}

}  // namespace stepsim
