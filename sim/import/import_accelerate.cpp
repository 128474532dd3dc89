// A configuration of Hugging Face's accelerate as a scenario (huggingface/accelerate
// src/accelerate/commands/config/config_args.py and src/accelerate/utils/dataclasses.py).
//
// It says how ranks share the work. The batch is the program's: options state it, or a file of
// TrainingArguments.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "sim/core/words.hpp"
#include "sim/import/config/config.hpp"
#include "sim/import/config/fsdp_keys.hpp"
#include "sim/import/config/trainer.hpp"
#include "sim/import/deepspeed.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/machine.hpp"
#include "sim/import/written_name.hpp"

namespace stepsim {
namespace {

using Kind = JsonTree::Kind;

/// Keys of a file whose distributed_type is `kind`; accelerate, too, passes over the sections of
/// other types.
KnownKeys known_keys(const std::string& kind) {
  KnownKeys known{.harmless = paths_of(
                      {{"",
                        "command_file commands compute_environment debug downcast_bf16 "
                        "enable_cpu_affinity fp8_config gpu_ids machine_rank main_process_ip "
                        "main_process_port main_training_function megatron_lm_config "
                        "mpirun_config rdzv_backend same_network tpu_cluster tpu_env tpu_name "
                        "tpu_use_cluster tpu_use_sudo tpu_vm tpu_zone use_cpu"},
                       {"deepspeed_config",
                        "deepspeed_exclusion_filter deepspeed_hostfile deepspeed_inclusion_filter "
                        "deepspeed_moe_layer_cls_names deepspeed_multinode_launcher "
                        "offload_optimizer_nvme_path offload_param_nvme_path zero3_init_flag "
                        "zero3_save_16bit_model"},
                       {"dynamo_config",
                        "dynamo_mode dynamo_use_dynamic dynamo_use_fullgraph "
                        "dynamo_use_regional_compilation"},
                       {"parallelism_config", "parallelism_config_cp_backend"}}),
                  .unsaid = {{"parallelism_config.parallelism_config_sp_size",
                              {"sequences are not split by heads", "1"}}}};
  add_fsdp_keys("fsdp_config", known);
  if (kind != "FSDP") known.harmless.insert("fsdp_config");
  if (kind != "DEEPSPEED") known.harmless.insert("deepspeed_config");
  return known;
}

/// Ways that accelerate distributes and scenarios do not.
const std::set<std::string, std::less<>> kOtherMachines{"MULTI_CPU",  "MULTI_HPU", "MULTI_MLU",
                                                        "MULTI_MUSA", "MULTI_NPU", "MULTI_SDAA",
                                                        "MULTI_XPU",  "TPU",       "XLA"};

JsonTree flag_tree(bool flag) { return {.kind = Kind::flag, .text = flag ? "true" : "false"}; }
JsonTree text_tree(const std::string& text) { return {.kind = Kind::text, .text = text}; }

void add_member(JsonTree& map, const std::string& name, JsonTree value) {
  map.kind = Kind::map;
  map.members.push_back({name, value.place, std::move(value)});
}

class AccelerateImport {
 public:
  explicit AccelerateImport(const ImportOptions& options)
      : options_(options),
        draft_(fmt::format("accelerate's {}, read by stepsim import accelerate.", options.file)),
        config_(source_of(options), "a configuration of accelerate"),
        settings_(trainer_settings(options, draft_)) {}

  Draft write() {
    kind_ = in_upper_case(config_.text("distributed_type", "NO"));
    refuse_others();
    read_machine();
    read_precision();
    if (kind_ == "DEEPSPEED") return write_deepspeed();
    read_split();
    add_stand_ins(settings_, draft_);
    draft_.line("framework: " + plan_.framework);
    draft_.line("model: " + written_name(settings_.model, options_));
    draft_.line("cluster: " + cluster_text(machine_));
    write_training();
    write_parallelism();
    config_.note_the_rest(known_keys(kind_), draft_);
    config_.problems().throw_if_any();
    return std::move(draft_);
  }

 private:
  void refuse_others() {
    const std::vector<std::string> known{"NO", "MULTI_GPU", "FSDP", "DEEPSPEED"};
    if (std::ranges::find(known, kind_) != known.end()) return;
    std::string message = fmt::format("distributed_type: {} is not {}",
                                      quoted(config_.text("distributed_type")), one_of(known));
    std::string proposal = closest(kind_, known);
    if (kOtherMachines.contains(kind_)) {
      message = fmt::format("distributed_type: {}: such devices are not simulated", kind_);
      proposal.clear();
    }
    if (kind_ == "MEGATRON_LM")
      proposal = "import Megatron-LM's command line: stepsim import megatron";
    config_.report("distributed_type", message, proposal);
    config_.problems().throw_if_any();
  }

  /// num_processes are those of all machines together.
  void read_machine() {
    const std::int64_t stated = config_.count("num_processes", 1);
    const std::int64_t processes = kind_ == "NO" ? 1 : stated;
    stated_.nodes = product_of({config_.count("num_machines")});
    stated_.gpus = product_of({processes});
    // Without the key there is one machine; more processes than any has are dealt out.
    const bool fits = processes > 0 && processes <= 8;
    if (fits && !config_.has("num_machines")) stated_.nodes = 1;
    stated_.why = "num_processes, on full nodes";
    config_.problems().throw_if_any();
  }

  /// What the file says stands before TrainingArguments, behind the option.
  void read_precision() {
    const std::string stated = config_.text("mixed_precision");
    const std::vector<std::string> known{"no", "fp16", "bf16", "fp8"};
    std::string precision = in_lower_case(stated);
    if (precision == "false") precision = "no";
    if (stated.empty() || options_.precision) return;
    // bf16 and fp16 of TrainingArguments replace what accelerate was told (training_args.py).
    if (!settings_.precision.empty() && settings_.precision != "fp32") return;
    if (std::ranges::find(known, precision) == known.end())
      config_.report(
          "mixed_precision",
          fmt::format("mixed_precision: {} is not {}", stepsim::quoted(stated), one_of(known)),
          closest(precision, known));
    states_precision_ = true;
    settings_.precision = precision == "no" ? "fp32" : precision;
  }

  std::int64_t degree(const std::string& name) {
    return config_.positive(
        config_.first_of({"parallelism_config.parallelism_config_" + name + "_size",
                          "parallelism_config." + name + "_size"}),
        1);
  }

  void read_split() {
    tensor_ = degree("tp");
    context_ = degree("cp");
    replicas_ = degree("dp_replicate");
    degree("dp_shard");
    stated_.needed = product_of({tensor_, context_, replicas_});
    machine_ = machine_for(options_, stated_, draft_);
    const std::int64_t each = tensor_ * context_;
    if (machine_.gpus() % each != 0)
      config_.report("parallelism_config",
                     fmt::format("{} GPUs are no whole number of {} tensor x {} context ranks",
                                 machine_.gpus(), tensor_, context_));
    data_ = std::max<std::int64_t>(machine_.gpus() / each, 1);
    if (kind_ != "FSDP") return;
    const int version = config_.choice("fsdp_config.fsdp_version", {"1", "2"}, "1") == "2" ? 2 : 1;
    plan_ = read_fsdp(config_, "fsdp_config", version, replicas_, data_, machine_, draft_);
  }

  void write_training() {
    config_.problems().throw_if_any();
    const Batch batch = trainer_batch(settings_, data_, draft_);
    add_no_sync(batch, data_, plan_.data);
    const std::string precision =
        trainer_precision(settings_, "mixed_precision is not stated", draft_);
    Entries e{fmt::format("sequence_length: {}", settings_.sequence_length),
              fmt::format("global_batch: {}", batch.global),
              fmt::format("micro_batch: {}", batch.micro), "precision: " + precision};
    if (!settings_.optimizer.empty()) e.push_back("optimizer: " + settings_.optimizer);
    if (!settings_.optimizer_kernels.empty())
      e.push_back("optimizer_kernels: " + settings_.optimizer_kernels);
    if (settings_.clipping) e.push_back(fmt::format("gradient_clipping: {}", *settings_.clipping));
    if (settings_.recompute || plan_.recompute) e.emplace_back("recompute: full");
    const std::string dynamo = in_upper_case(config_.text("dynamo_config.dynamo_backend", "NO"));
    add_kernels(settings_, settings_.is_compiled || dynamo == "INDUCTOR", e);
    e.push_back("attention: " + attention_of(settings_, machine_.cluster.gpu));
    add_method(settings_, e, draft_);
    add_images(settings_, e, draft_);
    const bool shards = std::ranges::find(plan_.data, "sharding: zero3") != plan_.data.end();
    add_wide_parameters(settings_, precision, shards, e, draft_);
    draft_.map("training", e);
  }

  void write_parallelism() {
    draft_.line("parallelism:");
    if (tensor_ > 1) draft_.line(fmt::format("  tensor: {}", tensor_));
    const std::string rotates =
        config_.choice("parallelism_config.parallelism_config_cp_comm_strategy",
                       {"allgather", "alltoall"}, "allgather");
    if (context_ > 1)
      draft_.map("  context",
                 {fmt::format("degree: {}", context_), "kind: " + context_kind(rotates)});
    draft_.map("  data", plan_.data);
  }

  /// What DeepSpeedPlugin makes of the keys, where there is no file
  /// (src/accelerate/utils/dataclasses.py).
  JsonTree plugin_config() {
    const std::string stage = config_.text("deepspeed_config.zero_stage", "2");
    JsonTree zero, config;
    add_member(zero, "stage", {.kind = Kind::number, .text = stage});
    for (const char* what : {"offload_optimizer", "offload_param"}) {
      JsonTree device;
      const std::string path = fmt::format("deepspeed_config.{}_device", what);
      add_member(device, "device", text_tree(config_.text(path, "none")));
      add_member(zero, what, std::move(device));
    }
    add_member(config, "zero_optimization", std::move(zero));
    for (const char* left : {"train_batch_size", "train_micro_batch_size_per_gpu"})
      add_member(config, left, text_tree("auto"));
    const JsonTree* steps = config_.find("deepspeed_config.gradient_accumulation_steps");
    add_member(config, "gradient_accumulation_steps",
               steps == nullptr ? text_tree("auto") : *steps);
    const JsonTree* norm = config_.find("deepspeed_config.gradient_clipping");
    add_member(config, "gradient_clipping", norm == nullptr ? text_tree("auto") : *norm);
    const bool is_half = settings_.precision == "bf16" || settings_.precision == "fp16";
    JsonTree on;
    add_member(on, "enabled", states_precision_ ? flag_tree(is_half) : text_tree("auto"));
    add_member(config, settings_.precision == "fp16" ? "fp16" : "bf16", std::move(on));
    config.place = config_.tree().place;
    return config;
  }

  Draft write_deepspeed() {
    const std::string file = config_.text("deepspeed_config.deepspeed_config_file");
    JsonTree config;
    if (file.empty()) {
      config = plugin_config();
    } else {
      config = Config(joined(config_.folder(), file), "a DeepSpeed configuration").tree();
    }
    config_.note_the_rest(known_keys(kind_), draft_);
    config_.problems().throw_if_any();
    return import_deepspeed({.config = std::move(config),
                             .machine = stated_,
                             .settings = std::move(settings_),
                             .draft = std::move(draft_)},
                            options_);
  }

  const ImportOptions& options_;
  Draft draft_;
  Config config_;
  TrainerSettings settings_;
  std::string kind_;
  bool states_precision_ = false;
  StatedMachine stated_;
  Machine machine_;
  std::int64_t tensor_ = 1, context_ = 1, replicas_ = 1, data_ = 1;
  FsdpKeys plan_{.framework = "pytorch-ddp", .data = {"sharding: ddp"}};
};

Draft import_accelerate(const ImportOptions& options) { return AccelerateImport(options).write(); }

bool is_accelerate(const std::string&, const std::string& text) {
  const auto has = [&](const char* key) { return has_line(text, key); };
  return has("distributed_type:") || (has("compute_environment:") && has("num_processes:"));
}

const Registered<Importer> registered{
    {.name = "accelerate",
     .description = "a configuration of Hugging Face's accelerate (YAML)",
     .options = trainer_options(),
     .recognises = is_accelerate,
     .scenario = import_accelerate}};

}  // namespace
}  // namespace stepsim
