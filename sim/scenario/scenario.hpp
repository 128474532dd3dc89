// The scenario: what is trained, on what, split how, fed from where. Plain values, checked once by
// the reader.
//
// These structs are what a scenario file says after all names are resolved and all defaults are
// filled in. Nothing in them points back to YAML. Any part of the program may read them; only
// sim/scenario/ makes them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/parallel_axis.hpp"
#include "sim/core/quantity.hpp"
#include "sim/scenario/checkpoint.hpp"
#include "sim/scenario/cost.hpp"
#include "sim/scenario/faults.hpp"
#include "sim/scenario/gpu.hpp"
#include "sim/scenario/horizon.hpp"
#include "sim/scenario/host.hpp"
#include "sim/scenario/input.hpp"
#include "sim/scenario/lora.hpp"
#include "sim/scenario/model.hpp"

namespace stepsim {

/// A cable of a graph that a scenario draws, or many: names may hold ranges ("node 0..15").
struct GraphLink {
  std::string from, to;
  BytesPerSecond bandwidth;            ///< from `from` to `to`
  std::optional<BytesPerSecond> back;  ///< from `to` to `from`; absent: as bandwidth
  bool operator==(const GraphLink&) const = default;
};

/// The network between nodes. What only some topologies read, they name in their `keys`.
struct Fabric {
  std::string topology = "rail";      ///< a name of `stepsim list topologies`
  int nics_per_node = 0;              ///< default: one per GPU
  BytesPerSecond bandwidth;           ///< of one NIC, per direction
  double efficiency = 1;              ///< payload that a large transfer reaches, of bandwidth
  Seconds latency;                    ///< of one hop between two nodes, software included
  Seconds plugin_latency;             ///< on top, of a hop, as NCCL's network plugin reports it
  bool sharp = false;                 ///< the switches reduce
  int nodes_per_leaf = 0;             ///< fat_tree: nodes below a leaf; rail: of a pod; 0: all
  std::optional<int> leaves_per_pod;  ///< fat_tree: a third level above so many leaves
  std::vector<double> oversubscription{1};  ///< bandwidth below over above, per level from below
  std::optional<int> nodes_per_router;      ///< dragonfly; absent: 1
  std::optional<int> routers_per_group;     ///< dragonfly
  std::optional<int> global_links;          ///< dragonfly: of each router; absent: half the group
  std::vector<int> sizes;                   ///< torus: nodes along x, y, z
  std::optional<BytesPerSecond> link_bandwidth;    ///< dragonfly, torus; absent: as bandwidth
  std::optional<BytesPerSecond> global_bandwidth;  ///< dragonfly; absent: as link_bandwidth
  std::vector<std::string> switches;               ///< custom
  std::vector<GraphLink> links;                    ///< custom
  bool operator==(const Fabric&) const = default;
};

/// How the GPUs and NICs of one node are joined.
struct NodeLayout {
  std::string kind = "nvswitch";                 ///< a name of `stepsim list node-topologies`
  std::optional<int> gpus_per_switch;            ///< pcie; absent: 2
  std::optional<int> sockets;                    ///< pcie; absent: 2, where there are two switches
  std::optional<BytesPerSecond> pcie_bandwidth;  ///< of a x16 slot or up-link
  std::optional<BytesPerSecond> socket_bandwidth;  ///< between two sockets
  std::vector<std::string> switches;               ///< custom
  std::vector<GraphLink> links;                    ///< custom
  bool operator==(const NodeLayout&) const = default;
};

/// What others send over links of the cluster all the time: another job on the same fabric, say.
struct BackgroundLoad {
  std::string links;    ///< a name of `stepsim show cluster`, or many: "leaf * up"
  BytesPerSecond rate;  ///< on each of them
  bool operator==(const BackgroundLoad&) const = default;
};

struct Cluster {
  std::string name;
  GpuProfile gpu;
  int nodes = 1;
  int gpus_per_node = 1;
  LinkProfile intra_node;
  NodeLayout node_topology;
  std::optional<Fabric> inter_node;  ///< may be absent on one node
  std::vector<BackgroundLoad> background;
  int gpus() const { return nodes * gpus_per_node; }
  bool operator==(const Cluster&) const = default;
};

enum class Recompute { none, selective, full };
/// Which element-wise operations share a kernel; sim/ops/layer/ says what each moves.
enum class Fusion {
  none,      ///< one kernel an operation, as eager PyTorch and Megatron-LM without its fusions
  fused,     ///< hand-written kernels, as in Megatron-LM, Apex and TransformerEngine
  compiled,  ///< torch.compile: norms with what stands before them, too
  xla        ///< XLA: chains that end at each reduction, behind which their inputs are read again
};
/// Kernels that move bytes and not weights, by what they compute.
enum class MovingKernels { elementwise, dropout, norm, softmax };
enum class RecomputeMethod { uniform, block };
/// Parts of a layer, named after Megatron-LM's --recompute-modules; attention up to the sum behind
/// it, and an MLP but for its last product, as policies of jax.checkpoint leave them; and all that
/// torchtitan's selective checkpointing by operations computes again.
enum class RecomputeModule {
  core_attention,
  attention,
  layernorm,
  mla_up_proj,
  mlp,
  mlp_up,
  moe,
  moe_act,
  shared_experts,
  every_second_matmul
};

/// Activations that are computed again in the backward pass instead of kept.
struct Recomputation {
  Recomputation() = default;
  Recomputation(Recompute what) : kind(what) {}  // NOLINT(google-explicit-constructor)

  Recompute kind = Recompute::none;
  std::vector<RecomputeModule> modules{RecomputeModule::core_attention};  ///< selective: these
  RecomputeMethod method = RecomputeMethod::uniform;                      ///< full: which layers
  std::int64_t layers = 1;  ///< uniform: of a group that is repeated as one; block: of each chunk
  bool early_stop = false;  ///< full: ends with the last tensor that is kept (PyTorch's checkpoint)
  /// Whether selective recompute includes the module.
  bool repeats(RecomputeModule module) const {
    return kind == Recompute::selective &&
           std::find(modules.begin(), modules.end(), module) != modules.end();
  }
  bool operator==(const Recomputation&) const = default;
};
/// How an optimizer's formula becomes kernels: as few as possible for all parameters at once; one
/// an operation; one an operation and parameter tensor; or one a tensor and elementary operation,
/// as graphs of TensorFlow have it, whose results are assigned at last.
enum class OptimizerKernels { fused, foreach_op, per_tensor, composed };
/// What becomes of gradients that were used: a kernel clears the buffer that holds them all
/// (Megatron-LM); one a tensor does (PyTorch's zero_grad(set_to_none=False), its default before
/// 2.0); they are freed (set_to_none=True); nothing, so that they are added to for ever.
enum class UsedGradients { clear_buffer, clear_tensors, free, keep };

/// How fp8 tensors get their scales: one a tensor from earlier steps, one a tensor from itself, or
/// one for each 32 elements from themselves.
enum class Fp8Scaling { delayed, current, mxfp8 };

/// Which ranks agree on the scales of delayed scaling: after each pass they look for the largest
/// values of their tensors in an all-reduce, those that share a stage, or those of one replica; or
/// each has its own (NVIDIA/TransformerEngine transformer_engine/pytorch/fp8.py,
/// reduce_and_update_fp8_tensors; NVIDIA/Megatron-LM megatron/core/parallel_state.py,
/// get_amax_reduction_group, and --tp-only-amax-red).
enum class AmaxReduction { all, tensor, none };

/// Of an fp8 element; blocks of 32 share a scale of one byte (OCP Microscaling Formats 1.0, 5.2).
constexpr double fp8_bytes(Fp8Scaling scaling) {
  return scaling == Fp8Scaling::mxfp8 ? 1 + 1.0 / 32 : 1;
}
/// Copies that a quantised tensor has: one by rows and one by columns, for Hopper multiplies only
/// what lies along the sums. Blackwell takes a tensor with one scale either way; blocks with scales
/// of their own lie along rows in one copy and along columns in the other
/// (NVIDIA/TransformerEngine transformer_engine/pytorch/utils.py, is_non_tn_fp8_gemm_supported;
/// pytorch/csrc/quantizer.cpp, Float8Quantizer::create_tensor).
constexpr int fp8_copies(Fp8Scaling scaling, Architecture architecture) {
  return architecture == Architecture::blackwell && scaling != Fp8Scaling::mxfp8 ? 1 : 2;
}
/// Moved to quantise one bf16 element into so many copies; a tensor's own largest value is looked
/// for in a pass before that.
constexpr double fp8_cast_bytes(Fp8Scaling scaling, int copies) {
  return 2 + copies * fp8_bytes(scaling) + (scaling == Fp8Scaling::current ? 2 : 0);
}

/// Whose kernels compute the loss; bytes and sources: sim/ops/layer/output_head.cpp.
enum class CrossEntropy { megatron, torch, xentropy, transformer_engine };

/// Whose linear layers. Those of Transformer Engine keep an empty gradient for each shape of weight
/// (NVIDIA/TransformerEngine transformer_engine/pytorch/module/base.py, get_dummy_wgrad), others
/// make a new one each time (NVIDIA/Megatron-LM megatron/core/tensor_parallel/layers.py).
enum class TransformerImpl { local, transformer_engine };

/// Attention of batched GEMMs and a softmax: as Megatron-LM's, whose tensors need no copies, or as
/// Hugging Face's eager attention, which moves the heads to the front and back.
inline constexpr const char* kUnfusedAttention = "unfused";
inline constexpr const char* kEagerAttention = "eager";
inline bool is_fused_attention(const std::string& kernel) {
  return kernel != kUnfusedAttention && kernel != kEagerAttention;
}

/// Parts of a layer that mixed precision may leave in fp32.
enum class LayerPart { activation, residual, norm, softmax };

/// Operations that may have no kernel of their own, but one for each elementary operation that they
/// are written in.
enum class ComposedOperation { activation, dropout, norm, softmax };

/// A pass over the gradients: out of the loss's scale, in search of infinities, or into a norm.
enum class GradientPass { unscale, check, clip };

/// How rows of the tables of tokens and positions are found: by their indices, or as products of
/// one-hot vectors with the tables (google/praxis praxis/layers/embedding_softmax.py,
/// lookup_style).
enum class EmbeddingLookup { index, matmul };

/// The first major version whose tensor cores take rows of any length.
inline constexpr int kCublasOfAnyAlignment = 11;

struct Training {
  std::int64_t sequence_length = 0;          ///< tokens per sequence; 0 for models without one
  std::int64_t decoder_sequence_length = 0;  ///< of encoder-decoder models; 0: sequence_length
  std::int64_t global_batch = 0;             ///< sequences or samples per step, all ranks together
  std::int64_t micro_batch = 1;              ///< sequences or samples per pass of one rank
  Precision precision = Precision::bf16;
  Fp8Scaling fp8_scaling = Fp8Scaling::delayed;  ///< precision fp8
  std::optional<AmaxReduction> reduce_amax;      ///< absent: all, where there is anything to reduce
  bool fp8_parameters = false;  ///< those of linear layers, which sharded optimizers gather
  /// type that gradients are kept and reduced in; default: as precision
  Precision gradients = Precision::bf16;
  bool fused_accumulation = true;  ///< weight-gradient GEMMs add to the gradients themselves
  std::vector<GradientPass> per_micro_batch;  ///< passes over gradients before they are added
  bool fp32_batch_norms = false;   ///< their gradients are reduced apart from narrower ones
  bool master_weights = true;      ///< fp32 copies of parameters that are narrower
  std::string optimizer = "adam";  ///< a name of `stepsim list optimizers`
  OptimizerKernels optimizer_kernels = OptimizerKernels::fused;
  bool casts_in_update = false;  ///< its kernels read narrow gradients and write narrow weights
  bool weight_decay = true;      ///< a kernel of its own where kernels are not fused
  UsedGradients used_gradients = UsedGradients::clear_buffer;
  bool gradient_clipping = true;  ///< a global norm, hence a small all-reduce over all model ranks
  Recomputation recompute;
  Fusion fusion = Fusion::fused;
  bool bias_dropout_fusion = true;  ///< fusion fused: of bias, dropout and residual too
  /// Rows of the vocabulary are padded to a multiple of so many on each tensor rank; absent: of 128
  /// where they are split over ranks.
  std::optional<std::int64_t> vocabulary_multiple;
  std::vector<ComposedOperation> composed;  ///< one kernel for each elementary operation
  std::vector<MovingKernels> scalar_loads;  ///< load 16-bit tensors one element at a time
  std::vector<LayerPart> fp32_parts;        ///< work in fp32, between casts from 16 bits and back
  /// unfused, eager, or an attention kernel of the GPU's profile
  std::string attention = kUnfusedAttention;
  bool fused_qkv = true;  ///< queries, keys and values by one linear layer
  TransformerImpl transformer_impl = TransformerImpl::local;
  EmbeddingLookup embedding_lookup = EmbeddingLookup::index;
  int cublas = kCublasOfAnyAlignment;  ///< major version
  CrossEntropy cross_entropy = CrossEntropy::megatron;
  int loss_metrics = 0;      ///< losses computed again after each forward pass, to be reported
  bool scan_layers = false;  ///< one loop runs equal layers, as JAX's lax.scan
  bool eager_loss = false;   ///< fusion compiled: of the layers alone
  std::optional<Lora> lora;  ///< absent: all weights are trained
  /// Bytes of a parameter or an activation.
  double element() const { return bytes_per_element(storage_of(precision)); }
  AmaxReduction amax_reduction() const {
    const bool delayed = precision == Precision::fp8 && fp8_scaling == Fp8Scaling::delayed;
    return delayed ? reduce_amax.value_or(AmaxReduction::all) : AmaxReduction::none;
  }
  /// Whether even the first micro-batch finds gradients of an operation's tensor to add to.
  bool finds_gradients() const {
    return used_gradients == UsedGradients::clear_tensors || used_gradients == UsedGradients::keep;
  }
  bool operator==(const Training&) const = default;
};

struct Pipeline {
  int stages = 1;
  std::string schedule = "1f1b";     ///< a name of `stepsim list schedules`
  int chunks = 1;                    ///< model chunks per stage, as many as the schedule runs
  std::vector<std::int64_t> layers;  ///< per part (chunk-major) where uneven; empty: equal parts
  bool overlap_p2p = false;     ///< send and receive beside compute; default: only when interleaved
  bool batch_p2p_sync = false;  ///< the host waits for transfers before it launches the next pass
  bool scatter_gather = true;   ///< tensor ranks send 1/t each and gather in the node (no effect
                                ///< with sequence parallel)
  bool operator==(const Pipeline&) const = default;
};

enum class Sharding { ddp, zero1, zero2, zero3 };

/// Whose defaults a scenario starts from (sim/scenario/describe/frameworks.hpp).
enum class Framework { pytorch_ddp, pytorch_fsdp1, pytorch_fsdp2, megatron, deepspeed };

/// When the next block's parameters are asked for in backward: before or after the kernels of the
/// current one, or when the block is reached.
enum class Prefetch { pre, post, none };

/// Blocks whose parameters are given up after forward and gathered again for backward: all, all but
/// those outside the layers (embedding and head), none.
enum class Reshard { all, layers, none };

/// Whose gradients fill buckets first: those that backward completes first, or those of the model's
/// front.
enum class BucketOrder { backward, forward };

/// What a kernel divides by the number of ranks: a bucket, or one gradient, as part of its copy to
/// the bucket where it is copied. Or none does, for the reduction averages (ncclAvg).
enum class Averaging { bucket, gradient, collective };

struct DataParallel {
  Sharding sharding = Sharding::ddp;
  std::optional<int> degree;        ///< when stated it is checked against the cluster
  std::optional<int> shard_degree;  ///< data ranks that share one copy of what is sharded; absent:
                                    ///< all of them
  Bytes bucket;                     ///< gradient bucket; default 25 MiB
  Bytes first_bucket;            ///< default: 1 MiB, or bucket where bucket is stated (PyTorch DDP)
  std::optional<Seconds> cycle;  ///< of the thread that starts reductions; absent: at once
  bool overlap = true;           ///< reduce gradients beside the backward pass
  bool offload_optimizer = false;  ///< its state and its update are the CPU's (ZeRO-Offload)
  bool rebuild_buckets = false;    ///< one bucket in the first step, then the others (PyTorch DDP)
  bool bucket_views = true;        ///< gradients are computed in their buckets, not copied there
  BucketOrder bucket_order = BucketOrder::backward;
  Averaging averaging = Averaging::bucket;  ///< default: gradient without bucket_views
  bool broadcast_buffers = false;           ///< ddp: rank 0's running statistics, before each step
  bool bucket_later_stages = true;  ///< false: one bucket on later stages and chunks (Megatron-LM)
  bool no_sync = true;  ///< reduce after the last micro-batch only; default: not for zero2, zero3
  bool check_for_nan_in_grad = false;  ///< the host looks at each bucket's norm (Megatron-LM)
  bool all_reduce_gradients = false;   ///< zero1: whole, not scattered (DeepSpeed)
  // zero1 and zero2 only:
  bool overlap_param_gather = false;  ///< beside the next step's forward passes (Megatron-LM)
  bool align_param_gather = false;    ///< asked for at the same time by all stages of a pipeline
  // zero3 only:
  /// the host asks for the next block before it launches the current one
  bool forward_prefetch = true;
  Prefetch backward_prefetch = Prefetch::pre;
  bool limit_all_gathers = false;  ///< the host waits until at most two blocks are gathered (FSDP1)
  bool limit_reduce_scatters = false;  ///< compute waits for the last block's reduction (FSDP2)
  bool copy_out = false;     ///< gathered parameters are copied from the gather's buffer (FSDP2)
  bool loop_copies = false;  ///< what an iteration of scan_layers hands the next is copied (XLA)
  Reshard reshard_after_forward = Reshard::all;
  std::int64_t persistence_threshold =
      0;  ///< elements; smaller parameters stay gathered (DeepSpeed)
  bool operator==(const DataParallel&) const = default;
};

enum class ContextKind { ring, all_gather, all_to_all };

/// Sequences split over ranks, in attention too.
struct ContextParallel {
  int degree = 1;
  ContextKind kind = ContextKind::ring;  ///< what passes between ranks in attention
  bool operator==(const ContextParallel&) const = default;
};

/// Whose kernels exchange tokens: NCCL's, with a row for each expert of a token, or DeepEP's, with
/// one for each rank, of which one crosses to each node.
enum class Dispatcher { all_to_all, deepep };
/// Default of its Buffer.num_sms (deepseek-ai/DeepEP deep_ep/buffer.py); as many are set aside in
/// DeepSeek-V3's training (arXiv 2412.19437, section 3.2.2).
inline constexpr int kDeepEpSms = 20;

/// Experts dealt to the ranks that hold the same dense parameters.
struct ExpertParallel {
  int degree = 1;
  std::optional<double>
      capacity;          ///< rows of an expert over its fair share, padded; absent: dropless
  double imbalance = 1;  ///< dropless: rows of the busiest rank over the average
  Dispatcher dispatcher = Dispatcher::all_to_all;
  std::optional<int> nodes;     ///< that have experts of one token, at most; absent: any
  bool fp8_dispatch = false;    ///< rows go to their experts in fp8
  std::optional<int> sms;       ///< set aside for exchanges; absent: see `exchange_sms`
  std::optional<bool> overlap;  ///< of exchanges with the other pass; absent: where passes join

  /// SMs that kernels leave to exchanges; nothing: exchanges run on NCCL's channels.
  std::optional<int> exchange_sms() const {
    return sms || dispatcher == Dispatcher::all_to_all ? sms : kDeepEpSms;
  }
  bool operator==(const ExpertParallel&) const = default;
};

/// Which dimension neighbouring ranks differ in: the fastest first. Those left out have one rank.
struct RankOrder {
  std::vector<Axis> axes{kOrderedAxes.begin(), kOrderedAxes.end()};
  bool operator==(const RankOrder&) const = default;
};

/// How embedding tables are dealt to the data-parallel ranks: whole, or each table's rows.
enum class EmbeddingSplit { table, row };

/// Which ranks run a DLRM's bottom MLP: each for its own samples, or rank 0 for those of all, which
/// then has tables only where there are few ranks.
enum class BottomMlp { each, first };
/// Of so many ranks rank 0 has tables beside it (NVIDIA/DeepLearningExamples
/// PyTorch/Recommendation/DLRM/dlrm/utils/distributed.py, get_device_mapping).
inline constexpr int kMostRanksWithTablesOnFirst = 4;

struct Parallelism {
  RankOrder order;
  int tensor = 1;
  bool sequence = false;       ///< sequence parallel regions between tensor parallel ones
  bool overlap_tensor = true;  ///< hide backward collectives under weight-gradient GEMMs (Megatron)
  bool dtensor = false;        ///< sequence parallel tensors are copied and kept as PyTorch's are
  bool gather_each = false;    ///< dtensor: linear layers of one input gather it for themselves
  ContextParallel context;
  ExpertParallel expert;
  EmbeddingSplit embedding = EmbeddingSplit::table;
  BottomMlp bottom_mlp = BottomMlp::each;
  Pipeline pipeline;
  DataParallel data;
  bool operator==(const Parallelism&) const = default;
};

struct Run {
  int steps = 2;                   ///< steps that are measured
  int warmup = 1;                  ///< steps before them
  std::uint64_t seed = 0;          ///< of all that is random (`faults`)
  int replicas = 1;                ///< runs that differ in what is random
  std::optional<Horizon> horizon;  ///< absent: what is simulated is all there is
  std::string flops = "megatron";  ///< a name of `stepsim list conventions`
  bool operator==(const Run&) const = default;
};

/// One assertion on the result; the reader has checked that key, comparison and unit fit together.
struct Expectation {
  std::string key;         ///< step_time, mfu, hfu, tokens_per_s, samples_per_s, peak_memory,
                           ///< bubble_fraction, data_stall_fraction, overlap_efficiency, goodput,
                           ///< fits
  std::string comparison;  ///< <=, >=, <, >, ==
  double value = 0;        ///< SI base units; fractions as fractions; fits: 0 or 1
  std::string text;        ///< as written
  bool operator==(const Expectation&) const = default;
};

/// NCCL's releases whose choices are known, in order (sim/plan/nccl/constants.hpp; thresholds.hpp
/// for 2.4, which has no cost model).
enum class NcclVersion { v2_4, v2_20, v2_27, v2_30 };

/// How one kind of collective runs.
struct CollectiveChoice {
  std::string algorithm = "auto";    ///< a name of `stepsim list collectives`; auto: NCCL's choice
  std::optional<Protocol> protocol;  ///< absent: NCCL's choice
  bool operator==(const CollectiveChoice&) const = default;
};

struct Collectives {
  CollectiveChoice all_reduce, all_gather, reduce_scatter, all_to_all;
  NcclVersion nccl = NcclVersion::v2_30;
  bool operator==(const Collectives&) const = default;
};

struct Scenario {
  std::string name;
  std::string description;
  std::optional<Framework> framework;  ///< absent: the defaults that stand here
  Model model;
  Cluster cluster;
  Training training;
  Parallelism parallelism;
  Collectives collectives;
  std::optional<Input> data;             ///< absent: input is never waited for
  std::optional<Checkpoint> checkpoint;  ///< absent: none is written
  Host host;
  Faults faults;
  std::optional<Reliability> reliability;  ///< absent: its defaults
  std::optional<Cost> cost;
  Run run;
  std::vector<Expectation> expect;
  std::string hash;  ///< of the resolved scenario

  /// Tokens of a sample: of its (source) sequence, or of its image; 0 for feature vectors.
  std::int64_t sequence_length() const {
    const auto* t = std::get_if<Transformer>(&model.shape);
    return t != nullptr && t->vision ? t->vision->tokens() : training.sequence_length;
  }
  /// Tokens of its target sequence; 0 where the model has no encoder beside its decoder.
  std::int64_t target_length() const {
    const auto* t = std::get_if<Transformer>(&model.shape);
    if (t == nullptr || t->encoder_layers == 0) return 0;
    const std::int64_t stated = training.decoder_sequence_length;
    return stated > 0 ? stated : training.sequence_length;
  }
  int data_parallel() const { return replicas() / parallelism.context.degree; }
  /// Ranks that hold the same dense parameters: data x context.
  int replicas() const {
    return cluster.gpus() / (parallelism.tensor * parallelism.pipeline.stages);
  }
  /// Copies of what is sharded, each on neighbouring data ranks.
  int shard_groups() const {
    const auto& degree = parallelism.data.shard_degree;
    return degree ? data_parallel() / *degree : 1;
  }
  /// Micro-batches that each pipeline runs per step.
  int micro_batches() const {
    return static_cast<int>(training.global_batch / (training.micro_batch * data_parallel()));
  }
  /// Whether checkpoints are among the steps that are simulated. Measured steps have whole periods
  /// of them or none, for else a mean step would depend on where the measurement ends.
  bool simulates_checkpoints() const { return checkpoint && run.steps % checkpoint->every == 0; }
  bool operator==(const Scenario&) const = default;
};

}  // namespace stepsim
