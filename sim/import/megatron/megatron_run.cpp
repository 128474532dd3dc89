// Megatron-LM's command line as a scenario (NVIDIA/Megatron-LM megatron/training/arguments.py).
//
// Buckets count parameters. Data-parallel ranks are those that tensor, pipeline and context leave.
#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/problems.hpp"
#include "sim/core/source.hpp"
#include "sim/import/config/packed_documents.hpp"
#include "sim/import/machine.hpp"
#include "sim/import/megatron/megatron.hpp"
#include "sim/import/megatron/megatron_hybrid.hpp"

namespace stepsim {
namespace {

/// An import, section by section.
class MegatronImport {
 public:
  MegatronImport(MegatronOptions& options, const MegatronSource& source,
                 const ImportOptions& import)
      : o_(options),
        source_(source),
        draft_(source.title),
        tensor_(o_.degree("tensor-model-parallel-size")),
        stages_(o_.degree("pipeline-model-parallel-size")),
        context_(o_.degree("context-parallel-size")),
        expert_(o_.degree("expert-model-parallel-size")),
        expert_tensor_(o_.up_to(kMostGpus, "expert-tensor-parallel-size", tensor_)) {
    if (!has_megatron_experts(o_)) expert_tensor_ = tensor_;
    machine_ = machine_for(import, stated_machine(source.gpus), draft_);
    refuse_too_few();
  }

  Draft write() {
    draft_.line("framework: megatron");
    write_model();
    draft_.line("cluster: " + cluster_text(machine_));
    write_graphs();
    write_training();
    write_parallelism();
    o_.throw_if_any();
    note_megatron_spec(o_, draft_);
    o_.note_the_rest(draft_);
    return std::move(draft_);
  }

 private:
  static constexpr std::int64_t kMostOfNode = 1'000;
  static constexpr double kMostNorm = std::numeric_limits<double>::infinity();
  static inline const std::vector<std::string> kMethods{"uniform", "block"};
  static constexpr const char* kFsdpStrategy = "optim_grads_params";
  /// Options of data that is packed, with a mask of its own for each document
  /// (megatron/training/datasets/sft_dataset.py and varlen_dataset.py, megatron/rl/).
  static constexpr const char* kPacked[] = {"sft", "use-varlen-dataset", "rl-use-sequence-packing"};

  StatedMachine stated_machine(const LaunchedGpus& gpus) {
    // slime has options of its own for the GPUs that train (THUDM/slime,
    // docs/en/get_started/usage.md).
    const std::int64_t nodes = o_.up_to(kMostGpus, "actor-num-nodes", gpus.nodes);
    const std::int64_t of_node =
        o_.up_to(kMostOfNode, "actor-num-gpus-per-node", gpus.gpus_per_node);
    StatedMachine stated{
        .nodes = static_cast<int>(o_.up_to(kMostGpus, "nnodes", nodes)),
        .gpus_per_node = static_cast<int>(o_.up_to(kMostOfNode, "nproc-per-node", of_node)),
        .gpus = gpus.gpus,
        .needed = static_cast<int>(std::min(gpus_of_replica(), kMostGpus))};
    if (gpus.is_one_node && stated.nodes == 0 && stated.needed <= stated.gpus_per_node)
      stated.nodes = 1;
    return stated;
  }

  void write_model() {
    if (source_.model.empty()) return write_megatron_model(o_, source_.program, draft_);
    o_.has("num-layers");  // the pipeline's
    draft_.line("model: " + source_.model);
  }

  /// Whole replicas that the experts' mesh divides, too.
  std::int64_t gpus_of_replica() {
    return stages_ * std::lcm(tensor_ * context_, expert_tensor_ * expert_);
  }

  void refuse_too_few() {
    const std::int64_t gpus = machine_.gpus(), needed = gpus_of_replica();
    if (gpus >= needed) return;
    const std::int64_t nodes = (needed + machine_.gpus_per_node - 1) / machine_.gpus_per_node;
    constexpr std::string_view kDecide[] = {"nnodes", "actor-num-nodes", "nproc-per-node",
                                            "pipeline-model-parallel-size",
                                            "tensor-model-parallel-size"};
    const auto* one = std::find_if(std::begin(kDecide), std::end(kDecide) - 1,
                                   [&](std::string_view name) { return o_.has(name); });
    o_.refuse(*one,
              fmt::format("the launch has {} GPUs, fewer than the {} of one replica", gpus, needed),
              fmt::format("state how many nodes there are: --nodes {} or more", nodes));
  }

  std::int64_t replica() const { return tensor_ * stages_ * context_; }

  std::string precision() {
    const bool is_fp8 = !o_.choice("fp8-format", {"e4m3", "hybrid"}).empty();
    if (o_.is_on("fp16") && o_.is_on("bf16"))
      o_.report("fp16", "--fp16 beside --bf16: Megatron-LM takes one of them", "leave out one");
    const bool is_fp4 = !o_.choice("fp4-format", {"e2m1"}).empty();
    if (is_fp8 && is_fp4)
      o_.report("fp4-format", "--fp4-format beside --fp8-format: Megatron-LM takes one of them",
                "leave out one");
    if (is_fp4) return "nvfp4";
    if (is_fp8) return "fp8";
    const bool is_fp16 = o_.is_on("fp16"), is_bf16 = o_.is_on("bf16") || (is_slime() && !is_fp16);
    if (!is_bf16 && !is_fp16)
      draft_.assume({"precision", "fp32", "not stated; it is Megatron-LM's default", "--bf16"});
    return is_bf16 ? "bf16" : is_fp16 ? "fp16" : "fp32";
  }

  /// bf16 is reduced in fp32 unless gradients are kept in bf16 or it is said otherwise, fp16 the
  /// other way round.
  std::string gradients() {
    std::string kept = o_.choice("main-grads-dtype", {"fp32", "bf16"}, "fp32");
    if (o_.is_on("grad-reduce-in-bf16")) return "bf16";
    if (o_.is_on("accumulate-allreduce-grads-in-fp32")) return "fp32";
    if (o_.is_on("bf16") || is_slime()) return kept;
    return o_.is_on("fp16") ? "fp16" : "fp32";
  }

  /// The type that Megatron-FSDP casts gradients to before it reduces them; "": none. Those that it
  /// shards beside parameters have that type at once.
  std::string reduce_dtype() {
    const std::string type =
        o_.choice("megatron-fsdp-grad-comm-dtype", {"auto", "fp32", "bf16", "fp16"}, "auto");
    return type == "auto" || !o_.is_on("use-megatron-fsdp") ? "" : type;
  }

  /// The kind by itself, or a map with what else is said about it.
  std::string recompute() {
    const std::string granularity =
        o_.choice("recompute-granularity", {"full", "selective"}, "none");
    std::string kind = o_.is_on("recompute-activations") ? "selective" : granularity;
    // Its names before 2022.
    const bool was_full =
        o_.is_on("checkpoint-activations") || o_.has("activations-checkpoint-method");
    if (was_full) kind = "full";
    const std::int64_t layers =
        o_.integer("recompute-num-layers", o_.integer("activations-checkpoint-num-layers", 1));
    const std::string method =
        o_.choice("recompute-method", kMethods,
                  o_.choice("activations-checkpoint-method", kMethods, "uniform"));
    if (kind == "full" && (method != "uniform" || layers != 1))
      return fmt::format("{{kind: full, method: {}, layers: {}}}", method, layers);
    if (kind != "selective" || !o_.has("recompute-modules")) return kind;
    std::vector<std::string> modules = o_.words("recompute-modules");
    std::replace(modules.begin(), modules.end(), std::string("core_attn"),
                 std::string("core_attention"));
    return fmt::format("{{kind: selective, modules: [{}]}}", fmt::join(modules, ", "));
  }

  /// Whole layers, the first ones of the model, or the inputs of modules of each.
  void add_offload(Entries& e) {
    const std::int64_t layers = o_.integer("cpu-offloading-num-layers", 0);
    const std::vector<std::string> modules =
        o_.has("offload-modules") ? o_.words("offload-modules") : std::vector<std::string>{};
    const double share = o_.number("activation-offload-fraction", 1, 0, 1);
    const bool is_fine = o_.is_on("fine-grained-activation-offloading");
    if (o_.is_on("cpu-offloading") && layers > 0) {
      const auto all = static_cast<double>(megatron_layers(o_));
      e.push_back(fmt::format("offload: {{share: {:.4g}}}", static_cast<double>(layers) / all));
    } else if (is_fine && !modules.empty()) {
      e.push_back(
          fmt::format("offload: {{share: {}, modules: [{}]}}", share, fmt::join(modules, ", ")));
    }
  }

  /// Fused kernels of Transformer Engine, or what PyTorch's compiler makes of Megatron-LM's. Kernels
  /// that take the product in repeat it backward, as those of cut cross entropy do
  /// (megatron/core/fusions/fused_linear_cross_entropy.py).
  void add_cross_entropy(Entries& e) {
    const std::string kernels =
        o_.choice("cross-entropy-fusion-impl", {"native", "te", "linear"}, "native");
    if (!o_.is_on("cross-entropy-loss-fusion")) return;
    if (kernels == "linear") {
      const bool is_whole = tensor_ == 1;
      draft_.note("cross-entropy-fusion-impl linear",
                  is_whole ? "kernels of cut cross entropy, which skip some of the gradients"
                           : "the loss has logits, which tensor ranks share");
      if (is_whole) return e.push_back("cross_entropy: cut_cross_entropy");
    }
    if (kernels == "te") return e.push_back("cross_entropy: transformer_engine");
    e.emplace_back("cross_entropy: megatron_fused");
  }

  /// slime sets bf16 and the distributed optimizer by itself (THUDM/slime,
  /// slime/backends/megatron_utils/arguments.py).
  bool is_slime() { return o_.has("actor-num-nodes") && o_.has("rollout-batch-size"); }

  /// Megatron-DeepSpeed has the kernels of Megatron-LM's past alone: no Transformer Engine
  /// (microsoft/Megatron-DeepSpeed, megatron/model/transformer.py).
  bool is_of_deepspeed() { return o_.has("deepspeed"); }

  std::string transformer_impl() {
    std::string stated =
        o_.choice("transformer-impl", {"local", "transformer_engine", "inference_optimized"},
                  is_of_deepspeed() ? "local" : "transformer_engine");
    if (stated == "local" || stated == "transformer_engine") return stated;
    draft_.note("--transformer-impl " + stated, "transformer_engine");
    return "transformer_engine";
  }

  std::string attention() {
    const std::string backend =
        o_.choice("attention-backend", {"flash", "fused", "unfused", "local", "auto"}, "auto");
    if (backend == "unfused" || backend == "local") return "unfused";
    const bool is_flash = o_.is_on("use-flash-attn") || o_.has("use-flash-attn-v2");
    if (backend == "fused" && has_attention(machine_.cluster.gpu, "cudnn")) return "cudnn";
    if (is_of_deepspeed() && !is_flash) return "unfused";
    return fused_attention(machine_.cluster.gpu);
  }

  /// As stated, or one micro-batch a data-parallel rank.
  std::int64_t global_batch(std::int64_t micro) {
    const std::int64_t data = std::max<std::int64_t>(machine_.gpus() / replica(), 1);
    const std::int64_t global = o_.positive("global-batch-size", micro * data);
    if (!o_.has("global-batch-size"))
      draft_.assume({"global batch", fmt::format("{}", global),
                     "not stated; Megatron-LM takes one micro-batch a data-parallel rank",
                     "--global-batch-size N"});
    // GPUs that are no whole number of replicas are refused by the scenario's own checks.
    if (machine_.gpus() % replica() == 0 && global % (micro * data) != 0)
      o_.refuse(
          "global-batch-size",
          fmt::format("--global-batch-size {} is not a whole number of --micro-batch-size {} x "
                      "{} data-parallel ranks",
                      global, micro, data));
    return global;
  }

  void write_training() {
    const std::int64_t micro = o_.required("micro-batch-size");
    const std::string sent = sharding() == "zero3" ? reduce_dtype() : "";
    Entries e{
        fmt::format("sequence_length: {}", o_.required("seq-length")),
        fmt::format("global_batch: {}", global_batch(micro)),
        fmt::format("micro_batch: {}", micro),
        "precision: " + precision(),
        "gradients: " + (sent.empty() ? gradients() : sent),
        "optimizer: " + megatron_optimizer(o_),
        fmt::format("gradient_clipping: {}", o_.number("clip-grad", 1, -kMostNorm, kMostNorm) > 0),
        "recompute: " + recompute(),
        "attention: " + attention(),
        "transformer_impl: " + transformer_impl()};
    if (o_.has("make-vocab-size-divisible-by"))
      e.push_back(
          fmt::format("vocabulary_multiple: {}", o_.positive("make-vocab-size-divisible-by", 128)));
    add_offload(e);
    add_megatron_optimizer(o_, e, draft_);
    add_megatron_quantisation(o_, e, draft_);
    add_cross_entropy(e);
    if (o_.is_on("no-gradient-accumulation-fusion")) e.emplace_back("fused_accumulation: false");
    if (o_.is_on("no-bias-dropout-fusion")) e.emplace_back("bias_dropout_fusion: false");
    if (!joins_rotary(o_)) e.emplace_back("rope_fusion: false");
    for (const char* name : kPacked)
      if (o_.has(name)) assume_whole_documents(fmt::format("--{}", name), draft_);
    if (o_.has("rampup-batch-size"))
      draft_.note("--rampup-batch-size", "the batch has its final size");
    draft_.map("training", e);
  }

  /// Modules whose kernels are CUDA graphs: without any stated, whole layers, or whole passes.
  void write_graphs() {
    const std::string impl =
        o_.choice("cuda-graph-impl", {"none", "local", "transformer_engine", "full_iteration"},
                  o_.is_on("enable-cuda-graph")     ? "local"
                  : o_.is_on("external-cuda-graph") ? "transformer_engine"
                                                    : "none");
    const char* kind = o_.has("cuda-graph-modules") ? "cuda-graph-modules" : "cuda-graph-scope";
    std::vector<std::string> modules = o_.has(kind) ? o_.words(kind) : std::vector<std::string>{};
    if (impl == "none") return;
    const bool is_whole = std::ranges::find(modules, "full_iteration") != modules.end();
    if (impl == "full_iteration" || is_whole) return draft_.line("host: {mode: graph}");
    std::erase_if(modules,
                  [](const std::string& word) { return word == "full" || word == "mamba"; });
    if (modules.empty()) modules = {"attn", "mlp", "moe_router", "moe_preprocess", "moe"};
    draft_.line(fmt::format("host: {{graphs: [{}]}}", fmt::join(modules, ", ")));
  }

  void write_parallelism() {
    draft_.line("parallelism:");
    assume_strategy();
    if (o_.is_on("use-tp-pp-dp-mapping")) draft_.line("  order: tp-cp-ep-pp-dp");
    draft_.line(fmt::format("  tensor: {}", tensor_));
    if (o_.is_on("sequence-parallel") && tensor_ > 1) draft_.line("  sequence: true");
    if (o_.is_on("tp-comm-overlap") && o_.is_on("sequence-parallel") && tensor_ > 1)
      draft_.line("  split_products: user_buffers");
    if (context_ > 1) write_context();
    if (has_megatron_experts(o_))
      write_megatron_experts(o_, {expert_, expert_tensor_, tensor_}, draft_);
    if (expert_ > 1 && !has_megatron_experts(o_))
      o_.refuse("expert-model-parallel-size",
                fmt::format("--expert-model-parallel-size {} without --num-experts", expert_));
    if (stages_ > 1) write_megatron_pipeline(o_, draft_);
    Entries data{"sharding: " + sharding(),
                 fmt::format("overlap: {}", o_.is_on("overlap-grad-reduce"))};
    const std::string sent = sharding() == "zero3" ? "" : reduce_dtype();
    if (!sent.empty() && sent != gradients()) data.push_back("reduce_dtype: " + sent);
    add_parameter_gathers(data);
    if (o_.is_on("optimizer-cpu-offload")) data.emplace_back("offload_optimizer: true");
    if (o_.is_on("ddp-average-in-collective")) data.emplace_back("averaging: collective");
    if (!checks_gradients()) data.emplace_back("check_for_nan_in_grad: false");
    const std::int64_t instances = o_.degree("num-distributed-optimizer-instances");
    if (instances > 1) data.push_back(fmt::format("shard_degree: {}", shard_degree(instances)));
    if (o_.has("ddp-bucket-size")) {
      const double element = gradients() == "fp32" ? 4 : 2;
      const auto elements = static_cast<double>(o_.positive("ddp-bucket-size", 0));
      data.push_back("bucket: " + size_text(elements * element));
    }
    draft_.map("  data", data);
  }

  /// Not where the scale of the loss is a dynamic one, which takes such gradients for its signal
  /// (validate_args of megatron/training/arguments.py).
  bool checks_gradients() {
    const bool is_off = o_.is_on("no-check-for-nan-in-loss-and-grad");
    const bool has_scale = o_.has("loss-scale") && !o_.is_zero("loss-scale");
    return !is_off && (has_scale || !o_.is_on("fp16"));
  }

  /// With FSDP blocks are gathered as they are needed, and without chunks of a pipeline Megatron-LM
  /// aligns nothing (megatron/training/arguments.py).
  void add_parameter_gathers(Entries& data) {
    o_.has("align-param-gather");  // its preset since
    const bool aligned = !o_.is_on("no-align-param-gather");
    if (!o_.is_on("overlap-param-gather") || sharding() == "zero3") return;
    data.emplace_back("overlap_param_gather: true");
    if (aligned && stages_ > 1 && has_megatron_chunks(o_))
      data.emplace_back("align_param_gather: true");
  }

  /// Each instance of the distributed optimizer is sharded over a part of the replicas.
  std::int64_t shard_degree(std::int64_t instances) {
    const std::int64_t data = machine_.gpus() / replica();
    if (data % instances == 0) return data / instances;
    o_.refuse("num-distributed-optimizer-instances",
              fmt::format("--num-distributed-optimizer-instances {} does not divide {} "
                          "data-parallel ranks",
                          instances, data));
  }

  void write_context() {
    std::vector<std::string> kinds =
        o_.choices("cp-comm-type", {"p2p", "a2a", "all_gather", "allgather", "a2a+p2p"});
    if (kinds.empty()) kinds.emplace_back("p2p");
    const std::string& kind = kinds.front();
    const std::string known = kind == "a2a"             ? "all_to_all"
                              : kind.starts_with("all") ? "all_gather"
                                                        : "ring";
    const bool all_alike =
        std::ranges::all_of(kinds, [&](const auto& other) { return other == kind; });
    if (!all_alike || (known == "ring" && kind != "p2p"))
      draft_.note(o_.shown("cp-comm-type"), "all layers have context parallel kind " + known);
    draft_.map("  context", {fmt::format("degree: {}", context_), "kind: " + known});
  }

  /// ZeRO's stage; with bf16 stage 0 is an optimizer that is sharded, too
  /// (deepspeedai/DeepSpeed deepspeed/runtime/bf16_optimizer.py).
  std::string sharding_of_deepspeed() {
    const std::int64_t stage = std::min<std::int64_t>(o_.integer("zero-stage", 1), 3);
    if (stage >= 2) return fmt::format("zero{}", stage);
    return stage == 1 || o_.is_on("bf16") ? "zero1" : "ddp";
  }

  void assume_strategy() {
    if (!o_.is_on("use-megatron-fsdp") || o_.has("data-parallel-sharding-strategy")) return;
    draft_.assume({"sharding strategy", kFsdpStrategy,
                   "not stated; Megatron-LM's default since core_v0.18.0, no_shard before",
                   "--data-parallel-sharding-strategy NAME"});
  }

  /// What Megatron-FSDP's strategies share out (megatron/core/distributed/fsdp/src/README.md).
  /// --use-custom-fsdp is its name up to core_v0.13, when the default was another.
  std::string sharding_of_fsdp() {
    const std::string preset = o_.is_on("use-megatron-fsdp") ? kFsdpStrategy : "no_shard";
    const std::string strategy =
        o_.choice("data-parallel-sharding-strategy",
                  {"no_shard", "optim", "optim_grads", "optim_grads_params"}, preset);
    if (strategy == "optim_grads_params") return "zero3";
    if (strategy == "optim_grads") return "zero2";
    return strategy == "optim" ? "zero1" : "ddp";
  }

  std::string sharding() {
    const bool shares_optimizer =
        o_.is_on("use-distributed-optimizer") || is_layer_wise(o_) || is_slime();
    if (is_of_deepspeed()) return sharding_of_deepspeed();
    if (o_.is_on("use-torch-fsdp2"))
      return o_.is_on("torch-fsdp2-no-reshard-after-forward") ? "zero2" : "zero3";
    if (o_.is_on("use-megatron-fsdp") || o_.is_on("use-custom-fsdp")) return sharding_of_fsdp();
    o_.has("data-parallel-sharding-strategy");  // of Megatron-FSDP alone
    return shares_optimizer ? "zero1" : "ddp";
  }

  MegatronOptions& o_;
  const MegatronSource& source_;
  Draft draft_;
  std::int64_t tensor_, stages_, context_, expert_, expert_tensor_;
  Machine machine_;
};

}  // namespace

Draft draft_of_megatron(const MegatronSource& source, const ImportOptions& options) {
  MegatronOptions read(source.words);
  // One of both is stated (validate_args of megatron/training/arguments.py).
  read.rename("encoder-seq-length", "seq-length");
  return MegatronImport(read, source, options).write();
}

}  // namespace stepsim
