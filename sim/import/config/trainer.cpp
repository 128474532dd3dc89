// TrainingArguments as far as they change a step, and their defaults.
#include "sim/import/config/trainer.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/import/config/config.hpp"
#include "sim/import/config/hub_model.hpp"
#include "sim/import/config/model_shape.hpp"
#include "sim/import/config/trainer_dialects.hpp"
#include "sim/import/machine.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {
namespace {

// What stands in for what such files often do not hold.
constexpr const char* kModel = "llama2-7b";
constexpr int kSequenceLength = 2048;

/// TrainingArguments that change a step (src/transformers/training_args.py), and trl's SFTConfig.
const KnownKeys kKnown{.harmless = {},
                       .unsaid = {{"auto_find_batch_size", {"the batch is as stated", ""}},
                                  {"group_by_length", {"sequences have one length", ""}},
                                  {"liger_kernel_config", {"all of Liger's kernels", ""}},
                                  {"neftune_noise_alpha", {"no noise is added", ""}},
                                  {"packing", {"sequences have one length", "true"}}},
                       .has_many_more = true};

std::string precision_of(Config& config) {
  if (config.is_on("bf16") && config.is_on("fp16"))
    config.report("fp16", "fp16: true beside bf16: TrainingArguments take one of them at most",
                  "leave out one");
  if (config.is_on("bf16")) return "bf16";
  if (config.is_on("fp16")) return "fp16";
  if (config.is_on("tf32")) return "tf32";
  return config.has("bf16") || config.has("fp16") ? "fp32" : "";
}

void read_arguments(const std::string& path, bool is_model_stated, TrainerSettings& s,
                    Draft& draft) {
  Config config(path, "a file of TrainingArguments");
  s.micro_batch =
      config.count(config.first_of({"per_device_train_batch_size", "per_gpu_train_batch_size"}), 1);
  s.accumulation = config.count("gradient_accumulation_steps", 1);
  s.precision = precision_of(config);
  if (const auto norm = config.number("max_grad_norm")) s.clipping = *norm > 0;
  if (config.has("optim")) {
    const NamedOptimizer named = optimizer_named(config.text("optim"), draft);
    s.optimizer = named.optimizer;
    s.optimizer_kernels = named.kernels;
  }
  s.recompute = config.is_on("gradient_checkpointing");
  s.is_compiled = config.is_on("torch_compile");
  if (config.is_on("use_liger_kernel")) use_liger(s);
  const std::string length =
      config.first_of({"max_length", "max_seq_length", "model_max_length", "cutoff_len"});
  if (!length.empty()) s.sequence_length = config.count(length, 1);
  if (config.has("model_name_or_path") && !is_model_stated)
    s.model = model_named(config, "model_name_or_path");
  read_dialect(config, s, draft);
  config.problems().throw_if_any();
  config.note_the_rest(kKnown, draft);
}

/// PEFT looks for linear layers: each expert of a model that has a module for it, none of one that
/// keeps all experts in one tensor, as transformers does from release 5 on (huggingface/peft
/// src/peft/tuners/lora/config.py, target_parameters).
void note_adapters_of_experts(const TrainerSettings& s, Draft& draft) {
  if (s.lora.find("linear_fc") == std::string::npos || s.model.empty()) return;
  const std::optional<Transformer> shape = shape_of_model(s.model);
  if (shape && shape->experts)
    draft.note("adapters of experts",
               "one serves all experts of a rank, as Megatron-Bridge's; PEFT has one for each "
               "expert that is a module, and none for experts that are one tensor");
}

}  // namespace

void use_liger(TrainerSettings& settings) {
  settings.has_liger_modules = true;
  settings.cross_entropy = "liger_fused_linear";
}

NamedOptimizer optimizer_named(const std::string& name, Draft& draft) {
  if (name == "adamw_torch_fused" || name == "adamw_apex_fused") return {"adam", "fused"};
  if (name == "adamw_torch" || name == "adamw_hf") return {"adam", "foreach"};
  if (name == "sgd") return {"sgd", "foreach"};
  draft.note("optimizer " + name, "AdamW of PyTorch");
  return {"adam", "foreach"};
}

std::string model_named(Config& config, std::string_view path) {
  const std::string name = config.text(path);
  if (const auto known = model_of_hub(name)) return *known;
  const std::string file =
      joined(config.folder(), name.ends_with(".json") ? name : name + "/config.json");
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored))
    return file.find('/') == std::string::npos ? "./" + file : file;
  config.report(path,
                fmt::format("{}: the model {} is not in models/", path, stepsim::quoted(name)),
                "name one with --model NAME, or its config.json with --model PATH");
  return "";
}

std::string file_near(const std::string& folder, const std::string& file) {
  std::error_code ignored;
  std::string from = folder;
  for (int above = 0; above < 8; ++above) {
    std::string path = joined(from, file);
    if (std::filesystem::is_regular_file(path, ignored)) return path;
    from = joined(from, "..");
  }
  return std::filesystem::is_regular_file(file, ignored) ? file : "";
}

TrainerSettings trainer_settings(const ImportOptions& options, Draft& draft) {
  TrainerSettings s;
  if (!options.training_arguments.empty())
    read_arguments(options.training_arguments, options.model.has_value(), s, draft);
  if (options.micro_batch > 0) s.micro_batch = options.micro_batch;
  if (options.accumulation > 0) s.accumulation = options.accumulation;
  s.global_batch = options.global_batch;
  if (options.precision) s.precision = *options.precision;
  if (options.model) s.model = *options.model;
  if (options.sequence_length) s.sequence_length = *options.sequence_length;
  return s;
}

Batch trainer_batch(const TrainerSettings& s, std::int64_t data, Draft& draft) {
  Batch batch{.micro = s.micro_batch, .global = s.global_batch};
  std::int64_t steps = s.accumulation;
  if (batch.micro == 0 && batch.global > 0) {
    batch.micro =
        std::max<std::int64_t>(batch.global / (data * std::max<std::int64_t>(steps, 1)), 1);
  } else if (batch.micro == 0) {
    batch.micro = kTrainerMicroBatch;
    draft.assume({"micro-batch", std::to_string(batch.micro),
                  "not stated; the default of TrainingArguments' per_device_train_batch_size",
                  "--micro-batch N"});
  }
  if (steps == 0 && batch.global > 0) {
    steps = std::max<std::int64_t>(batch.global / (batch.micro * data), 1);
  } else if (steps == 0) {
    steps = 1;
    draft.assume({"accumulation", "1",
                  "not stated; the default of TrainingArguments' gradient_accumulation_steps",
                  "--accumulation N"});
  }
  if (batch.global == 0) batch.global = batch.micro * steps * data;
  if (batch.global == batch.micro * steps * data) return batch;
  throw UserError(fmt::format(
      "a global batch of {} is not a micro-batch of {} x {} passes x {} data-parallel ranks",
      batch.global, batch.micro, steps, data));
}

void add_no_sync(const Batch& batch, std::int64_t data, Entries& entries) {
  if (batch.global > batch.micro * data) entries.emplace_back("no_sync: true");
}

void add_stand_ins(TrainerSettings& s, Draft& draft) {
  if (s.model.empty()) {
    s.model = kModel;
    draft.assume({"model", kModel, "the file does not name one", "--model NAME"});
  }
  if (s.sequence_length > 0) return;
  s.sequence_length = kSequenceLength;
  draft.assume({"sequence length", std::to_string(kSequenceLength), "the file does not state it",
                "--sequence-length TOKENS"});
}

std::string attention_of(const TrainerSettings& s, const GpuProfile& gpu) {
  const bool is_known = s.attention == "eager" || has_attention(gpu, s.attention);
  return is_known ? s.attention : torch_attention(gpu);
}

void add_method(const TrainerSettings& s, Entries& training, Draft& draft) {
  if (!s.lora.empty()) {
    note_adapters_of_experts(s, draft);
    training.push_back("lora: " + s.lora);
    training.emplace_back("fused_qkv: false");  // adapters of transformers' own layers
  }
  if (!s.has_master_weights) training.emplace_back("master_weights: false");
}

void add_images(const TrainerSettings& s, Entries& training, Draft& draft) {
  constexpr std::int64_t kTokens = 16;  // of an edge: 448 pixels of Qwen2.5 VL's towers
  const std::optional<Transformer> shape = shape_of_model(s.model);
  if (!shape || !shape->tower) return;
  const std::int64_t edge = kTokens * shape->tower->patch * shape->tower->merge;
  const bool is_free = shape->tower->image == 0;
  const std::int64_t pixels = is_free ? edge : shape->tower->image;
  training.push_back(is_free
                         ? fmt::format("images: {{per_sequence: 1, height: {0}, width: {0}}}", edge)
                         : std::string("images: {per_sequence: 1}"));
  draft.assume({"images", fmt::format("1 of {0} x {0} pixels a sequence", pixels),
                "how many the data set has, and of which size, is not in the file",
                "training.images in the scenario"});
}

void add_wide_parameters(const TrainerSettings& s, const std::string& precision, bool shards,
                         Entries& training, Draft& draft) {
  const bool is_narrow = precision == "bf16" || precision == "fp16";
  if (!is_narrow || !s.lora.empty() || !s.has_master_weights) return;
  training.emplace_back(shards ? "parameters: fp32" : "autocast: true");
  draft.assume({"parameters", "fp32",
                shards ? "FSDP's shards have the type that they were loaded in; fp32 is the "
                         "default of transformers before 5"
                       : "the type that they were loaded in, autocast beside it; fp32 is the "
                         "default of transformers before 5",
                shards ? "parameters in the scenario"
                       : "autocast: false and master_weights: false in the scenario"});
}

void add_kernels(const TrainerSettings& s, bool is_compiled, Entries& training) {
  training.emplace_back(is_compiled           ? "fusion: compiled"
                        : s.has_liger_modules ? "fusion: liger"
                                              : "fusion: none");
  if (!s.cross_entropy.empty()) training.push_back("cross_entropy: " + s.cross_entropy);
}

std::string trainer_precision(const TrainerSettings& s, const std::string& why, Draft& draft) {
  if (!s.precision.empty()) return s.precision;
  draft.assume({"precision", "bf16", why, "--precision NAME"});
  return "bf16";
}

std::vector<std::string_view> trainer_options() {
  return {
      "--cluster",     "--nodes",        "--model",        "--sequence-length",    "--precision",
      "--micro-batch", "--accumulation", "--global-batch", "--training-arguments", "--format"};
}

}  // namespace stepsim
