// An axolotl configuration as a scenario (axolotl-ai-cloud/axolotl src/axolotl/utils/schemas).
//
// axolotl starts Hugging Face's Trainer: what it leaves open is the Trainer's, and DeepSpeed's file
// is filled in as the Trainer does it.
#include <algorithm>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/import/config/adapters.hpp"
#include "sim/import/config/config.hpp"
#include "sim/import/config/fsdp_keys.hpp"
#include "sim/import/config/packed_documents.hpp"
#include "sim/import/config/trainer.hpp"
#include "sim/import/deepspeed.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/machine.hpp"
#include "sim/import/written_name.hpp"

namespace stepsim {
namespace {

// Defaults that are not the Trainer's (src/axolotl/utils/schemas/config.py and training.py).
constexpr std::int64_t kSequenceLength = 512, kMicroBatch = 1;

KnownKeys known_keys() {
  KnownKeys known{
      .harmless = {"eval_sample_packing", "gradient_checkpointing_kwargs"},
      .unsaid = {{"group_by_length", {"sequences have one length", ""}},
                 {"gradient_checkpointing_offload", {"activations stay on the GPU", ""}},
                 {"activation_offloading", {"activations stay on the GPU", ""}},
                 {"plugins",
                  {"but for Liger's and cut cross entropy, kernels are those of transformers", ""}},
                 {"lisa_n_layers", {"all layers are trained", ""}},
                 {"load_in_4bit", {"frozen weights are kept in the precision of the run", ""}},
                 {"load_in_8bit", {"frozen weights are kept in the precision of the run", ""}},
                 {"liger_layer_norm", {"PyTorch's is one kernel, too", "true"}},
                 {"quantization", {"weights are not quantized", ""}},
                 {"rl", {"a step is one of pretraining: no reference model, no generation", ""}},
                 {"unfrozen_parameters", {"all weights are trained", ""}}},
      .has_many_more = true};
  add_fsdp_keys("fsdp_config", known);
  return known;
}

class AxolotlImport {
 public:
  explicit AxolotlImport(const ImportOptions& options)
      : options_(options),
        draft_(fmt::format("axolotl's {}, read by stepsim import axolotl.", options.file)),
        config_(options.file, "an axolotl configuration"),
        settings_(trainer_settings(options, draft_)) {}

  Draft write() {
    read_settings();
    read_split();
    const std::string deepspeed = config_.text("deepspeed");
    if (!deepspeed.empty()) return write_deepspeed(deepspeed);
    read_fsdp_keys();
    draft_.line("framework: " + plan_.framework);
    write_head();
    write_training();
    draft_.line("parallelism:");
    if (tensor_ > 1) draft_.line(fmt::format("  tensor: {}", tensor_));
    if (context_ > 1) draft_.map("  context", {fmt::format("degree: {}", context_), "kind: ring"});
    draft_.map("  data", plan_.data);
    note_the_rest();
    return std::move(draft_);
  }

 private:
  void note_the_rest() {
    config_.note_the_rest(known_keys(), draft_);
    config_.problems().throw_if_any();
  }

  void write_head() {
    add_length();
    add_micro_batch();
    if (settings_.global_batch == 0)
      take(settings_.accumulation, 1, "accumulation", "gradient_accumulation_steps",
           "--accumulation N");
    add_stand_ins(settings_, draft_);
    draft_.line("model: " + written_name(settings_.model, options_));
    draft_.line("cluster: " + cluster_text(machine_));
  }

  /// Options count before the file.
  void read_settings() {
    const auto fill = [&](std::int64_t& value, std::string_view key) {
      const std::int64_t stated = config_.count(key, 1);
      if (value == 0) value = stated;
    };
    fill(settings_.micro_batch, "micro_batch_size");
    fill(settings_.accumulation, "gradient_accumulation_steps");
    fill(settings_.sequence_length, "sequence_len");
    if (config_.has("base_model") && settings_.model.empty())
      settings_.model = model_named(config_, "base_model");
    config_.problems().throw_if_any();
    read_precision();
    if (const auto norm = config_.number("max_grad_norm")) settings_.clipping = *norm > 0;
    const std::string optimizer = config_.text("optimizer", "adamw_torch_fused");
    const NamedOptimizer named = optimizer_named(optimizer, draft_);
    settings_.optimizer = named.optimizer;
    settings_.optimizer_kernels = named.kernels;
    settings_.recompute = is_said("gradient_checkpointing");
    settings_.is_compiled = is_said("torch_compile");
    settings_.lora = lora();
    read_kernels();
    read_attention();
    read_packing();
  }

  /// Positions of packed samples start anew, by which kernels keep them apart
  /// (src/axolotl/utils/collators/batching.py).
  void read_packing() {
    if (!config_.has("sample_packing")) return;
    if (is_said("sample_packing")) return assume_whole_documents("sample_packing: true", draft_);
    draft_.note("sample_packing", "sequences have one length, which packing fills");
  }

  /// A switch, or a word for one of its kinds ("offload").
  bool is_said(std::string_view key) {
    const JsonTree* value = config_.find(key);
    return value != nullptr && switch_of(*value).value_or(!value->text.empty());
  }

  /// axolotl's default of a key where nobody states a value.
  void take(std::int64_t& value, std::int64_t preset, const std::string& what, const char* key,
            const std::string& state) {
    if (value > 0) return;
    value = preset;
    draft_.assume({what, std::to_string(preset),
                   fmt::format("not stated; the default of axolotl's {}", key), state});
  }

  void add_length() {
    take(settings_.sequence_length, kSequenceLength, "sequence length", "sequence_len",
         "--sequence-length TOKENS");
  }

  void add_micro_batch() {
    take(settings_.micro_batch, kMicroBatch, "micro-batch", "micro_batch_size", "--micro-batch N");
  }

  /// "auto", the default of bf16 and tf32, takes what the GPU has; fp16 turns that of bf16 off
  /// (resolve_dtype of src/axolotl/utils/config/__init__.py).
  void read_precision() {
    const bool is_open = config_.text("bf16", "auto") == "auto";
    const bool is_fp16 = is_said("fp16"), is_float16 = is_said("float16");
    const bool is_stated = is_said("bfloat16") || (!is_open && is_said("bf16"));
    const bool bf16 = is_stated || (is_open && !is_fp16);
    const bool tf32 = config_.text("tf32", "auto") == "auto" || is_said("tf32");
    if (!settings_.precision.empty()) return;
    settings_.precision = is_said("fp8")          ? "fp8"
                          : bf16                  ? "bf16"
                          : is_fp16 || is_float16 ? "fp16"
                          : tf32                  ? "tf32"
                                                  : "fp32";
    const std::string& taken = settings_.precision;
    const bool is_taken = (taken == "bf16" && !is_stated) || (taken == "tf32" && !is_said("tf32"));
    if (is_taken || config_.text(taken) == "auto")
      draft_.assume({"precision", taken,
                     fmt::format("{}: auto{} takes what the GPU has", taken,
                                 config_.has(taken) ? "" : ", axolotl's default,"),
                     "--precision NAME"});
  }

  std::int64_t degree(std::initializer_list<std::string_view> keys) {
    return config_.positive(config_.first_of(keys), 1);
  }

  void read_split() {
    tensor_ = degree({"tensor_parallel_size"});
    context_ = degree({"context_parallel_size", "sequence_parallel_degree"});
    replicas_ = degree({"dp_replicate_size"});
    shards_ = degree({"dp_shard_size"});
    config_.problems().throw_if_any();
    stated_.needed = product_of({tensor_, context_, replicas_});
    if (config_.has("dp_shard_size")) stated_.gpus = product_of({stated_.needed, shards_});
    stated_.why = "the product of all degrees, on full nodes";
    if (config_.text("deepspeed").empty()) machine_ = machine_for(options_, stated_, draft_);
    data_ = std::max<std::int64_t>(machine_.gpus() / (tensor_ * context_), 1);
  }

  /// Without FSDP and DeepSpeed ranks are DistributedDataParallel's.
  void read_fsdp_keys() {
    const bool has_list = !config_.list("fsdp").empty();
    const bool has_fsdp = config_.has("fsdp_config") || has_list;
    const int version = config_.choice("fsdp_version", {"1", "2"}, "1") == "2" ? 2 : 1;
    if (!has_fsdp) return;
    plan_ = read_fsdp(config_, "fsdp_config", version, replicas_, data_, machine_, draft_);
  }

  std::string lora() {
    const std::string adapter = config_.text("adapter");
    const PeftAdapters adapters{.rank = config_.positive("lora_r", 8),
                                .has_dropout = config_.number("lora_dropout").value_or(0) > 0,
                                .modules = config_.list("lora_target_modules"),
                                .is_everywhere = config_.is_on("lora_target_linear")};
    return adapter.empty() ? "" : lora_text(adapters, draft_);
  }

  /// Plugins' kernels (src/axolotl/integrations/liger/args.py and cut_cross_entropy/args.py).
  void read_kernels() {
    int on = 0;
    for (const char* key : {"liger_rope", "liger_rms_norm", "liger_glu_activation"})
      on += config_.is_on(key) ? 1 : 0;
    settings_.has_liger_modules = on == 3;
    if (on > 0 && on < 3)
      draft_.note("liger_rope, liger_rms_norm, liger_glu_activation",
                  "kernels are Liger's where all three are on");
    if (config_.is_on("liger_fused_linear_cross_entropy"))
      settings_.cross_entropy = "liger_fused_linear";
    if (config_.is_on("cut_cross_entropy")) settings_.cross_entropy = "cut_cross_entropy";
  }

  void read_attention() {
    const std::string named = config_.text("attn_implementation");
    if (is_said("eager_attention") || named == "eager") settings_.attention = "eager";
    if (named == "flash_attention_3") settings_.attention = "flash3";
    for (const char* fused : {"flash_attention", "sdp_attention", "xformers_attention",
                              "flex_attention", "s2_attention"})
      config_.has(fused);
  }

  /// The model is loaded in the type of products (resolve_dtype of
  /// src/axolotl/utils/config/__init__.py), which accelerate widens for FSDP alone
  /// (huggingface/accelerate src/accelerate/accelerator.py, prepare_model).
  void add_parameters(Entries& e) {
    const bool is_narrow = settings_.precision == "bf16" || settings_.precision == "fp16";
    if (!is_narrow || !settings_.lora.empty()) return;
    const bool shards = std::ranges::find(plan_.data, "sharding: zero3") != plan_.data.end();
    e.emplace_back(shards ? "parameters: fp32" : "master_weights: false");
  }

  void write_training() {
    const Batch batch = trainer_batch(settings_, data_, draft_);
    add_no_sync(batch, data_, plan_.data);
    Entries e{fmt::format("sequence_length: {}", settings_.sequence_length),
              fmt::format("global_batch: {}", batch.global),
              fmt::format("micro_batch: {}", batch.micro),
              "precision: " + settings_.precision,
              "optimizer: " + settings_.optimizer,
              "optimizer_kernels: " + settings_.optimizer_kernels,
              fmt::format("gradient_clipping: {}", settings_.clipping.value_or(true))};
    if (settings_.recompute || plan_.recompute) e.emplace_back("recompute: full");
    add_kernels(settings_, settings_.is_compiled, e);
    e.push_back("attention: " + attention_of(settings_, machine_.cluster.gpu));
    if (settings_.lora.empty()) e.emplace_back("fused_qkv: false");
    add_method(settings_, e, draft_);
    add_images(settings_, e, draft_);
    add_parameters(e);
    draft_.map("training", e);
  }

  Draft write_deepspeed(const std::string& file) {
    Config config(deepspeed_file(config_, file), "auto");
    read_fsdp_keys();
    note_the_rest();
    add_length();
    if (!config.has("train_batch_size") && !config.has("train_micro_batch_size_per_gpu"))
      add_micro_batch();
    return import_deepspeed({.config = config.tree(),
                             .machine = stated_,
                             .settings = std::move(settings_),
                             .draft = std::move(draft_)},
                            options_);
  }

  const ImportOptions& options_;
  Draft draft_;
  Config config_;
  TrainerSettings settings_;
  StatedMachine stated_;
  Machine machine_;
  std::int64_t tensor_ = 1, context_ = 1, replicas_ = 1, shards_ = 1, data_ = 1;
  FsdpKeys plan_{.framework = "pytorch-ddp", .data = {"sharding: ddp"}};
};

Draft import_axolotl(const ImportOptions& options) { return AxolotlImport(options).write(); }

bool is_axolotl(const std::string&, const std::string& text) {
  const auto has = [&](const char* key) { return has_line(text, key); };
  return has("base_model:") &&
         (has("sequence_len:") || has("datasets:") || has("micro_batch_size:"));
}

const Registered<Importer> registered{{.name = "axolotl",
                                       .description = "an axolotl configuration (YAML)",
                                       .options = trainer_options(),
                                       .recognises = is_axolotl,
                                       .scenario = import_axolotl}};

}  // namespace
}  // namespace stepsim
