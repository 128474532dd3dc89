// Megatron-LM's command line as a scenario (NVIDIA/Megatron-LM megatron/training/arguments.py).
//
// Options are generated from dataclasses there, names with dashes. Buckets count parameters.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/command/import.hpp"
#include "sim/command/shell_words.hpp"
#include "sim/core/error.hpp"
#include "sim/scenario/number.hpp"

namespace stepsim {
namespace {

/// Options that leave the time of a step as it is, by the beginning of their names: data, numerics,
/// schedules of the learning rate, saving, logging and the launcher.
constexpr std::string_view kHarmless[] = {"adam-",
                                          "apply-layernorm-1p",
                                          "async-save",
                                          "attention-softmax-in-fp32",
                                          "auto-detect-ckpt",
                                          "calculate-per-token-loss",
                                          "ckpt-",
                                          "data-args",
                                          "data-cache-path",
                                          "data-path",
                                          "dataloader-type",
                                          "dist-ckpt",
                                          "distributed-backend",
                                          "distributed-timeout",
                                          "eod-mask",
                                          "eval-",
                                          "exit-",
                                          "finetune",
                                          "init-method",
                                          "initial-loss-scale",
                                          "load",
                                          "local-rank",
                                          "log-",
                                          "loss-scale",
                                          "lr",
                                          "make-vocab",
                                          "manual-gc",
                                          "master",
                                          "merge-file",
                                          "min-lr",
                                          "mock-data",
                                          "no-load",
                                          "no-save",
                                          "node-rank",
                                          "norm-epsilon",
                                          "num-workers",
                                          "override-opt",
                                          "profile",
                                          "rdzv",
                                          "reset-",
                                          "rotary-",
                                          "save",
                                          "seed",
                                          "sgd-momentum",
                                          "split",
                                          "start-weight",
                                          "end-weight",
                                          "swiglu-",
                                          "tensorboard",
                                          "tokenizer-model",
                                          "train-data",
                                          "train-iters",
                                          "train-samples",
                                          "transformer-impl",
                                          "use-dist-ckpt",
                                          "use-legacy",
                                          "use-mcore",
                                          "use-rope-scaling",
                                          "valid-data",
                                          "test-data",
                                          "vocab-file",
                                          "wandb",
                                          "weight-decay"};

/// Options that change a step in a way that scenarios cannot say, with what is simulated.
const std::map<std::string, std::string, std::less<>> kNotSimulated = {
    {"cross-entropy-loss-fusion", "the loss runs as separate kernels"},
    {"cpu-offloading", "activations stay on the GPU"},
    {"cuda-graph-impl", "host.mode: graph is one launch a pass"},
    {"decoder-first-pipeline-num-layers", "layers are dealt out evenly"},
    {"decoder-last-pipeline-num-layers", "layers are dealt out evenly"},
    {"defer-embedding-wgrad-compute", "weight gradients of the head run in their place"},
    {"delay-wgrad-compute", "weight gradients run in their place"},
    {"enable-cuda-graph", "host.mode: graph is one launch a pass"},
    {"hierarchical-context-parallel-sizes", "context parallel ranks are one group"},
    {"mtp-num-layers", "the layers that predict further tokens are left out"},
    {"no-bias-dropout-fusion", "bias, dropout and residual are one kernel"},
    {"no-bias-gelu-fusion", "bias and activation are one kernel"},
    {"no-bias-swiglu-fusion", "bias and activation are one kernel"},
    {"no-gradient-accumulation-fusion", "weight gradients are added up by their GEMM"},
    {"no-masked-softmax-fusion", "masked softmax is one kernel"},
    {"num-distributed-optimizer-instances", "the optimizer is sharded over all replicas"},
    {"optimizer-cpu-offload", "the optimizer runs on the GPU"},
    {"overlap-p2p-communication-warmup-flush", "warm-up transfers follow the schedule"},
    {"overlap-param-gather", "parameters are gathered after the update"},
    {"overlap-param-gather-with-optimizer-step", "parameters are gathered after the update"},
    {"pipeline-model-parallel-layout", "layers are dealt out evenly"},
    {"tp-comm-overlap", "tensor-parallel collectives of the forward pass are exposed"},
    {"use-precision-aware-optimizer", "optimizer state is fp32"},
    {"use-ring-exchange-p2p", "transfers are sends and receives"},
};

/// The command line, option by option; every option that is asked for counts as read.
class Options {
 public:
  explicit Options(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!words[i].starts_with("--")) continue;
      const std::size_t equals = words[i].find('=');
      std::string name = words[i].substr(2, equals == std::string::npos ? equals : equals - 2);
      std::replace(name.begin(), name.end(), '_', '-');
      std::string value = equals == std::string::npos ? "" : words[i].substr(equals + 1);
      const bool has_word = i + 1 < words.size() && !words[i + 1].starts_with("--");
      if (equals == std::string::npos && has_word) value = words[i + 1];
      values_[name] = value;
    }
  }

  bool has(std::string_view name) {
    read_.emplace(name);
    return values_.find(name) != values_.end();
  }
  std::string text(std::string_view name, const std::string& preset = "") {
    return has(name) ? values_.find(name)->second : preset;
  }
  std::int64_t integer(std::string_view name, std::int64_t preset) {
    if (!has(name)) return preset;
    const std::string value = text(name);
    const auto number = leading_number(value);
    const bool whole =
        number && number->rest.empty() && number->value >= 0 && number->value <= 1e12 &&
        number->value == static_cast<double>(static_cast<std::int64_t>(number->value));
    if (!whole) throw UserError(fmt::format("--{}: '{}' is not a whole number", name, value));
    return static_cast<std::int64_t>(number->value);
  }
  std::int64_t required(std::string_view name) {
    if (!has(name)) throw UserError(fmt::format("--{} is missing", name));
    return integer(name, 0);
  }
  bool is_zero(std::string_view name) {
    const auto number = leading_number(text(name));
    return number && number->value == 0;
  }

  void note_the_rest(Draft& draft) const {
    for (const auto& [name, value] : values_) {
      const auto known = kNotSimulated.find(name);
      const std::string shown = "--" + name + (value.empty() ? "" : " " + value);
      if (known != kNotSimulated.end()) {
        draft.note(shown, known->second);
      } else if (!read_.contains(name) && !is_harmless(name)) {
        draft.note(shown, "not known here");
      }
    }
  }

 private:
  static bool is_harmless(std::string_view name) {
    return std::any_of(std::begin(kHarmless), std::end(kHarmless),
                       [&](std::string_view start) { return name.starts_with(start); });
  }

  std::map<std::string, std::string, std::less<>> values_;
  std::set<std::string, std::less<>> read_;
};

/// One import, section by section.
class MegatronImport {
 public:
  MegatronImport(Options& options, const ImportOptions& import)
      : o_(options),
        draft_("Megatron-LM's command line, read by stepsim import megatron."),
        tensor_(o_.integer("tensor-model-parallel-size", 1)),
        stages_(o_.integer("pipeline-model-parallel-size", 1)),
        layers_(o_.required("num-layers")) {
    refuse_what_would_mislead();
    machine_ = machine_for(
        import.cluster, static_cast<int>(import.nodes > 0 ? import.nodes : o_.integer("nnodes", 0)),
        static_cast<int>(o_.integer("nproc-per-node", 0)), static_cast<int>(tensor_ * stages_));
  }

  Draft write() {
    draft_.line("framework: megatron");
    write_model();
    draft_.line("cluster: " + cluster_text(machine_));
    write_training();
    write_parallelism();
    o_.note_the_rest(draft_);
    return std::move(draft_);
  }

 private:
  using Entries = std::vector<std::string>;

  /// A scenario without these would be of another model or another split.
  void refuse_what_would_mislead() {
    for (const char* name : {"num-experts", "multi-latent-attention", "encoder-num-layers"}) {
      if (o_.has(name)) throw UserError(fmt::format("--{}: such a model cannot be imported", name));
    }
    for (const char* name : {"context-parallel-size", "expert-model-parallel-size"}) {
      if (o_.integer(name, 1) > 1)
        throw UserError(
            fmt::format("--{} {}: such a split cannot be imported", name, o_.integer(name, 1)));
    }
  }

  std::int64_t ffn(std::int64_t hidden, bool gated) {
    // arguments.py: two thirds of 4h in multiples of 64 where the MLP is gated.
    const std::int64_t preset = gated ? hidden * 4 * 2 / 3 / 64 * 64 : 4 * hidden;
    return o_.integer("ffn-hidden-size", preset);
  }

  std::int64_t vocabulary() {
    if (o_.has("vocab-size")) return o_.integer("vocab-size", 0);
    const std::string tokenizer = o_.text("tokenizer-type", "none");
    if (tokenizer == "GPT2BPETokenizer") return 50257;
    if (tokenizer == "Llama2Tokenizer") return 32000;
    throw UserError(fmt::format(
        "the vocabulary is that of tokenizer '{}', which is not known here: add --vocab-size N",
        tokenizer));
  }

  void write_model() {
    const std::int64_t hidden = o_.required("hidden-size");
    const std::int64_t heads = o_.required("num-attention-heads");
    const bool gated = o_.has("swiglu");
    const bool grouped = o_.has("group-query-attention");
    const std::string position =
        o_.text("position-embedding-type",
                o_.has("use-rotary-position-embeddings") ? "rope" : "learned_absolute");
    const std::int64_t positions = o_.integer("max-position-embeddings", 0);
    const bool dropout = !(o_.is_zero("hidden-dropout") && o_.is_zero("attention-dropout"));
    Entries e{
        "name: megatron-lm",
        fmt::format("layers: {}", layers_),
        fmt::format("hidden: {}", hidden),
        fmt::format("heads: {}", heads),
        fmt::format("kv_heads: {}", grouped ? o_.integer("num-query-groups", 1) : heads),
        fmt::format("head_dim: {}", o_.integer("kv-channels", heads > 0 ? hidden / heads : 0)),
        fmt::format("ffn: {}", ffn(hidden, gated)),
        fmt::format("vocabulary: {}", vocabulary()),
        fmt::format("positions: {}", position == "learned_absolute" ? positions : 0),
        fmt::format("gated_mlp: {}", gated),
        fmt::format("rms_norm: {}", o_.text("normalization", "LayerNorm") == "RMSNorm"),
        fmt::format("bias: {}", !o_.has("disable-bias-linear")),
        fmt::format("tied_embeddings: {}", !o_.has("untie-embeddings-and-output-weights")),
        fmt::format("dropout: {}", dropout)};
    if (o_.has("add-qkv-bias")) draft_.note("--add-qkv-bias", "biases are everywhere or nowhere");
    if (o_.has("qk-layernorm")) draft_.note("--qk-layernorm", "queries and keys have no norms");
    draft_.map("model", e);
  }

  std::string precision() {
    if (o_.has("fp8-format")) return "fp8";
    return o_.has("bf16") ? "bf16" : o_.has("fp16") ? "fp16" : "fp32";
  }

  /// bf16 is reduced in fp32 unless it is said otherwise, fp16 the other way round.
  std::string gradients() {
    if (o_.has("grad-reduce-in-bf16")) return "bf16";
    if (o_.has("accumulate-allreduce-grads-in-fp32") || o_.has("bf16")) return "fp32";
    return o_.has("fp16") ? "fp16" : "fp32";
  }

  std::string recompute() {
    const std::string granularity = o_.text("recompute-granularity", "none");
    const std::int64_t some = o_.integer("recompute-num-layers", 1);
    const std::string method = o_.text("recompute-method", "uniform");
    if (granularity == "full" && method == "block")
      draft_.note(fmt::format("--recompute-method block of {} layers", some),
                  "every layer is computed again");
    if (granularity == "full" && method == "uniform" && some > 1)
      draft_.note(fmt::format("--recompute-num-layers {}", some), "each layer keeps its input");
    if (o_.has("recompute-modules"))
      draft_.note("--recompute-modules " + o_.text("recompute-modules"),
                  "selective recompute is of core attention");
    if (o_.has("recompute-activations")) return "selective";
    return granularity;
  }

  std::string attention() {
    const std::string backend = o_.text("attention-backend", "auto");
    if (backend == "unfused" || backend == "local") return "unfused";
    o_.has("use-flash-attn");
    return fused_attention(machine_.cluster.gpu);
  }

  void write_training() {
    const std::int64_t micro = o_.required("micro-batch-size");
    const std::int64_t data = std::max<std::int64_t>(machine_.gpus() / (tensor_ * stages_), 1);
    Entries e{fmt::format("sequence_length: {}", o_.required("seq-length")),
              fmt::format("global_batch: {}", o_.integer("global-batch-size", micro * data)),
              fmt::format("micro_batch: {}", micro),
              "precision: " + precision(),
              "gradients: " + gradients(),
              "optimizer: " + o_.text("optimizer", "adam"),
              fmt::format("gradient_clipping: {}", !o_.is_zero("clip-grad")),
              "recompute: " + recompute(),
              "attention: " + attention()};
    if (o_.has("rampup-batch-size"))
      draft_.note("--rampup-batch-size", "the batch has its final size");
    draft_.map("training", e);
  }

  std::int64_t chunks() {
    const std::int64_t per_rank = o_.integer("num-virtual-stages-per-pipeline-rank", 1);
    const std::int64_t each = o_.integer("num-layers-per-virtual-pipeline-stage", 0);
    if (each == 0) return per_rank;
    if (layers_ % (stages_ * each) != 0)
      throw UserError(fmt::format(
          "--num-layers-per-virtual-pipeline-stage {} x {} stages does not divide {} layers", each,
          stages_, layers_));
    return layers_ / stages_ / each;
  }

  void write_parallelism() {
    draft_.line("parallelism:");
    draft_.line(fmt::format("  tensor: {}", tensor_));
    if (o_.has("sequence-parallel") && tensor_ > 1) draft_.line("  sequence: true");
    if (stages_ > 1) write_pipeline();
    Entries data{"sharding: " + sharding(),
                 fmt::format("overlap: {}", o_.has("overlap-grad-reduce"))};
    if (o_.has("ddp-bucket-size")) {
      const double element = gradients() == "fp32" ? 4 : 2;
      const auto elements = static_cast<double>(o_.integer("ddp-bucket-size", 0));
      data.push_back("bucket: " + size_text(elements * element));
    }
    draft_.map("  data", data);
  }

  void write_pipeline() {
    const std::int64_t parts = chunks();
    Entries e{fmt::format("stages: {}", stages_)};
    if (parts > 1) {
      e.push_back(fmt::format("chunks: {}", parts));
      e.emplace_back("schedule: interleaved");
      if (o_.has("no-overlap-p2p-communication")) e.emplace_back("overlap_p2p: false");
    }
    if (o_.has("no-scatter-gather-tensors-in-pipeline")) e.emplace_back("scatter_gather: false");
    draft_.map("  pipeline", e);
  }

  std::string sharding() {
    const std::string strategy = o_.text("data-parallel-sharding-strategy", "no_shard");
    const bool fsdp = o_.has("use-megatron-fsdp") || o_.has("use-custom-fsdp");
    if (fsdp && strategy == "optim_grads_params") return "zero3";
    if (fsdp && strategy == "optim_grads") return "zero2";
    return o_.has("use-distributed-optimizer") ? "zero1" : "ddp";
  }

  Options& o_;
  Draft draft_;
  std::int64_t tensor_, stages_, layers_;
  Machine machine_;
};

}  // namespace

Draft import_megatron(const ImportOptions& options) {
  std::vector<std::string> words =
      options.file.empty() ? std::vector<std::string>{} : words_of_script(options.file);
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  Options arguments(words);
  return MegatronImport(arguments, options).write();
}

}  // namespace stepsim
