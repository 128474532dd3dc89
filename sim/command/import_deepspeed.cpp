// A DeepSpeed configuration as a scenario (deepspeedai/DeepSpeed deepspeed/runtime/config.py and
// deepspeed/runtime/zero/config.py). Buckets and thresholds count elements, and may be floats: 5e8.
//
// It says nothing about model, sequence length and cluster: those are options. "auto", which the
// Hugging Face trainer fills in, reads as if it were absent.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/command/import.hpp"
#include "sim/core/error.hpp"
#include "sim/core/source.hpp"

namespace stepsim {
namespace {

using Json = nlohmann::json;

/// Sections and keys that leave the time of a step as it is, or nearly.
const std::set<std::string, std::less<>> kHarmless = {
    "activation_checkpointing.profile",
    "autotuning",
    "bf16.immediate_grad_update",
    "checkpoint",
    "comms_logger",
    "csv_monitor",
    "dump_state",
    "elasticity",
    "flops_profiler",
    "fp16.auto_cast",
    "fp16.hysteresis",
    "fp16.initial_scale_power",
    "fp16.loss_scale",
    "fp16.loss_scale_window",
    "fp16.min_loss_scale",
    "gradient_predivide_factor",
    "memory_breakdown",
    "monitor_config",
    "optimizer.params",
    "prescale_gradients",
    "scheduler",
    "steps_per_print",
    "tensorboard",
    "wandb",
    "wall_clock_breakdown",
    "zero_allow_untested_optimizer",
    "zero_force_ds_cpu_optimizer",
    "zero_optimization.contiguous_gradients",
    "zero_optimization.elastic_checkpoint",
    "zero_optimization.ignore_unused_parameters",
    "zero_optimization.load_from_fp32_weights",
    "zero_optimization.stage3_gather_16bit_weights_on_model_save",
    "zero_optimization.stage3_gather_fp16_weights_on_model_save",
    "zero_optimization.stage3_model_persistence_threshold",
    "zero_optimization.sub_group_size"};

/// Keys that change a step in a way that scenarios cannot say, with what is simulated.
const std::map<std::string, std::string, std::less<>> kNotSimulated = {
    {"activation_checkpointing", "the model decides: training.recompute"},
    {"amp", "training.precision"},
    {"compression_training", "nothing is compressed"},
    {"curriculum_learning", "sequences have one length"},
    {"data_efficiency", "sequences have one length"},
    {"pipeline", "there is one stage"},
    {"sparse_attention", "attention is dense"},
    {"sparse_gradients", "gradients are dense"},
    {"zero_optimization.allgather_bucket_size", "updated parameters are gathered at once"},
    {"zero_optimization.allgather_partitions", "updated parameters are gathered at once"},
    {"zero_optimization.mics_hierarchical_params_gather", "parameters are gathered in one step"},
    {"zero_optimization.offload_param", "parameters stay on the GPU"},
    {"zero_optimization.reduce_scatter", "gradients that are sharded are scattered"},
    {"zero_optimization.round_robin_gradients", "gradients are reduced in their order"},
    {"zero_optimization.stage3_max_live_parameters", "two blocks are gathered at a time"},
    {"zero_optimization.stage3_max_reuse_distance", "each block is gathered for each pass"},
    {"zero_optimization.stage3_prefetch_bucket_size", "gathers look one block ahead"},
    {"zero_optimization.zero_hpz_partition_size", "parameters are gathered from all ranks"},
    {"zero_optimization.zero_quantized_gradients", "gradients are reduced as they are"},
    {"zero_optimization.zero_quantized_weights", "parameters are gathered as they are"},
};

/// Values under which such a key changes nothing.
bool is_default(const std::string& key, const Json& value) {
  if (value == "auto" || value.is_null()) return true;
  if (key.ends_with("reduce_scatter") || key.ends_with("allgather_partitions"))
    return value == true;
  if (value.is_boolean()) return value == false;
  if (key.ends_with("zero_hpz_partition_size")) return value == 1;
  if (!value.is_object()) return false;
  return (value.contains("device") && value["device"] == "none") ||
         (value.contains("enabled") && value["enabled"] == false);
}

/// "line 3, column 7" of a byte of the text.
std::string place_of(const std::string& text, std::size_t byte) {
  const std::size_t at = std::min(byte > 0 ? byte - 1 : 0, text.size());
  const auto begin = text.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(at);
  const std::size_t start = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return fmt::format("{}:{}", std::count(begin, end, '\n') + 1,
                     start == std::string::npos ? at + 1 : at - start);
}

Json json_of(const std::string& path) {
  const std::string text = read_source(path)->text;
  try {
    Json config = Json::parse(text);
    if (!config.is_object()) throw UserError(path + ":1:1: a DeepSpeed configuration is an object");
    return config;
  } catch (const Json::parse_error& error) {
    throw UserError(fmt::format("{}:{}: this is not JSON", path, place_of(text, error.byte)));
  }
}

// What stands in for what DeepSpeed's file does not hold.
constexpr const char* kModel = "llama2-7b";
constexpr int kSequenceLength = 2048;

class DeepspeedImport {
 public:
  explicit DeepspeedImport(const ImportOptions& options)
      : options_(options),
        config_(json_of(options.file)),
        draft_(fmt::format("DeepSpeed's {}, read by stepsim import deepspeed.", options.file)) {}

  Draft write() {
    read_batch();
    draft_.line("framework: deepspeed");
    draft_.line("model: " + options_.model.value_or(kModel));
    if (!options_.model)
      draft_.note("model", fmt::format("not in the file, {} is taken (--model)", kModel));
    if (!options_.sequence_length)
      draft_.note("sequence length",
                  fmt::format("not in the file, {} is taken (--sequence-length)", kSequenceLength));
    draft_.line("cluster: " + cluster_text(machine_));
    write_training();
    write_parallelism();
    note_the_rest("", config_);
    return std::move(draft_);
  }

 private:
  using Entries = std::vector<std::string>;

  /// The value at "section.key", if it is there and says something.
  const Json* find(const std::string& path) {
    read_.insert(path);
    const std::size_t dot = path.find('.');
    const std::string section = path.substr(0, dot);
    if (!config_.contains(section)) return nullptr;
    const Json* value = &config_[section];
    if (dot != std::string::npos) {
      read_.insert(section);
      if (!value->is_object() || !value->contains(path.substr(dot + 1))) return nullptr;
      value = &(*value)[path.substr(dot + 1)];
    }
    return value->is_null() || *value == "auto" ? nullptr : value;
  }
  [[noreturn]] void refuse(const std::string& path, const Json& value, const char* wanted) const {
    throw UserError(fmt::format("{}: {}: {} is not {}", options_.file, path, value.dump(), wanted));
  }
  /// Whole numbers may be written as floats. 0: not stated.
  std::int64_t count(const std::string& path) {
    const Json* value = find(path);
    if (value == nullptr) return 0;
    if (!value->is_number()) refuse(path, *value, "a number");
    const auto number = value->get<double>();
    if (number < 0 || number > 1e12 ||
        number != static_cast<double>(static_cast<std::int64_t>(number)))
      refuse(path, *value, "a whole number up to 1e12");
    return static_cast<std::int64_t>(number);
  }
  bool is_on(const std::string& path) {
    const Json* value = find(path);
    if (value != nullptr && !value->is_boolean()) refuse(path, *value, "true or false");
    return value != nullptr && value->get<bool>();
  }

  /// train_batch_size = micro-batch x accumulation steps x data-parallel ranks; what is missing
  /// follows from the others.
  void read_batch() {
    global_ = count("train_batch_size");
    micro_ = count("train_micro_batch_size_per_gpu");
    const std::int64_t stated_steps = count("gradient_accumulation_steps");
    const std::int64_t steps = std::max<std::int64_t>(stated_steps, 1);
    tensor_ = std::max<std::int64_t>(count("tensor_parallel.autotp_size"), 1);
    if (count("sequence_parallel_size") > 1)
      throw UserError(options_.file + ": sequence_parallel_size: such a split cannot be imported");
    const bool all = global_ > 0 && micro_ > 0 && stated_steps > 0;
    const std::int64_t ranks = all ? std::max<std::int64_t>(global_ / (micro_ * steps), 1) : 1;
    machine_ = machine_for(options_.cluster, options_.nodes, 0, static_cast<int>(ranks * tensor_));
    // Fewer ranks than a node has are a smaller node.
    if (all && options_.nodes == 0 && ranks * tensor_ < machine_.gpus_per_node)
      machine_.gpus_per_node = static_cast<int>(ranks * tensor_);
    const std::int64_t data = std::max<std::int64_t>(machine_.gpus() / tensor_, 1);
    if (global_ == 0 && micro_ == 0)
      throw UserError(options_.file +
                      ": neither train_batch_size nor train_micro_batch_size_per_gpu is stated");
    if (micro_ == 0) micro_ = std::max<std::int64_t>(global_ / (data * steps), 1);
    if (global_ == 0) global_ = micro_ * steps * data;
    if (global_ == micro_ * data * (stated_steps > 0 ? steps : global_ / (micro_ * data))) return;
    throw UserError(
        fmt::format("{}: train_batch_size {} is not train_micro_batch_size_per_gpu {} x "
                    "gradient_accumulation_steps {} x {} data-parallel ranks",
                    options_.file, global_, micro_, steps, data));
  }

  std::string optimizer() {
    const Json* type = find("optimizer.type");
    std::string name = type != nullptr && type->is_string() ? type->get<std::string>() : "Adam";
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name == "sgd") {
      const Json* params = find("optimizer.params");
      const bool momentum = params != nullptr && params->value("momentum", 0.0) != 0;
      return momentum ? "momentum" : "sgd";
    }
    if (name == "lamb") return name;
    if (name != "adam" && name != "adamw") draft_.note("optimizer.type " + name, "Adam");
    return "adam";
  }

  void write_training() {
    const bool bf16 = is_on("bf16.enabled") || is_on("bfloat16.enabled");
    const bool fp16 = !bf16 && is_on("fp16.enabled");
    const Json* clip = find("gradient_clipping");
    Entries e{
        fmt::format("sequence_length: {}", options_.sequence_length.value_or(kSequenceLength)),
        fmt::format("global_batch: {}", global_),
        fmt::format("micro_batch: {}", micro_),
        fmt::format("precision: {}", bf16   ? "bf16"
                                     : fp16 ? "fp16"
                                            : "fp32"),
        "optimizer: " + optimizer(),
        fmt::format("gradient_clipping: {}",
                    clip != nullptr && clip->is_number() && clip->get<double>() > 0)};
    const Json* type = find("communication_data_type");
    const std::set<std::string> types{"fp32", "fp16", "bf16"};
    gradients_ = bf16 || fp16 ? 2 : 4;
    if (type != nullptr && type->is_string() && types.contains(type->get<std::string>())) {
      gradients_ = *type == "fp32" ? 4 : 2;
      e.push_back("gradients: " + type->get<std::string>());
    }
    e.push_back("attention: " + fused_attention(machine_.cluster.gpu));
    draft_.map("training", e);
  }

  void write_parallelism() {
    const std::int64_t stage = count("zero_optimization.stage");
    if (stage > 3) refuse("zero_optimization.stage", stage, "0, 1, 2 or 3");
    Entries data{fmt::format("sharding: {}", stage == 0 ? "ddp" : fmt::format("zero{}", stage))};
    const std::int64_t bucket = count("zero_optimization.reduce_bucket_size");
    if (bucket > 0)
      data.push_back("bucket: " + size_text(static_cast<double>(bucket) * gradients_));
    if (find("zero_optimization.overlap_comm") != nullptr)
      data.push_back(fmt::format("overlap: {}", is_on("zero_optimization.overlap_comm")));
    if (find("zero_optimization.stage3_param_persistence_threshold") != nullptr)
      data.push_back(fmt::format("persistence_threshold: {}",
                                 count("zero_optimization.stage3_param_persistence_threshold")));
    add_offload(stage, data);
    add_shard_size(stage, data);
    draft_.line("parallelism:");
    if (tensor_ > 1) draft_.line(fmt::format("  tensor: {}", tensor_));
    draft_.map("  data", data);
  }

  /// Without ZeRO nothing is offloaded (deepspeed/runtime/engine.py).
  void add_offload(std::int64_t stage, Entries& data) {
    const std::string key = "zero_optimization.offload_optimizer";
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_object()) refuse(key, *value, "an object");
    const std::string device = value->value("device", Json("none")).dump();
    if (device == "\"none\"" || device == "null") return;
    if (device != "\"cpu\"" && device != "\"nvme\"")
      refuse(key + ".device", value->at("device"), "none, cpu or nvme");
    if (stage == 0) return draft_.note(key, "stage 0 offloads nothing");
    data.emplace_back("offload_optimizer: true");
    if (device == "\"nvme\"")
      draft_.note(key + ".device nvme", "the optimizer's state is in the CPU's memory");
    const Json share = value->value("ratio", Json(1.0));
    if (share.is_number() && share.get<double>() < 1)
      draft_.note(fmt::format("{}.ratio {}", key, share.dump()), "all of it is on the CPU");
  }

  /// MiCS: neighbouring ranks share one copy of the parameters; a stage 3 of its own
  /// (deepspeed/runtime/zero/mics.py).
  void add_shard_size(std::int64_t stage, Entries& data) {
    const std::string key = "zero_optimization.mics_shard_size";
    const Json* value = find(key);
    if (value == nullptr || *value == -1) return;
    const std::int64_t size = count(key);
    if (stage != 3) return draft_.note(key, "only stage 3 has it");
    const std::int64_t ranks = std::max<std::int64_t>(machine_.gpus() / tensor_, 1);
    if (size < 1 || ranks % size != 0)
      throw UserError(fmt::format("{}: {}: {} does not divide {} data-parallel ranks",
                                  options_.file, key, size, ranks));
    if (size == 1) return draft_.note(key + " 1", "parameters are sharded over all ranks");
    data.push_back(fmt::format("shard_degree: {}", size));
  }

  void note_the_rest(const std::string& prefix, const Json& section) {
    for (const auto& [name, value] : section.items()) {
      const std::string path = prefix + name;
      const auto known = kNotSimulated.find(path);
      if (known != kNotSimulated.end()) {
        if (!is_default(path, value)) draft_.note(path, known->second);
      } else if (kHarmless.contains(path)) {
        continue;
      } else if (prefix.empty() && value.is_object() && read_.contains(path)) {
        note_the_rest(path + ".", value);
      } else if (!read_.contains(path)) {
        draft_.note(path, "not known here");
      }
    }
  }

  const ImportOptions& options_;
  Json config_;
  Draft draft_;
  std::set<std::string, std::less<>> read_;
  std::int64_t global_ = 0, micro_ = 0, tensor_ = 1;
  double gradients_ = 2;  ///< bytes of an element as it is reduced
  Machine machine_;
};

}  // namespace

Draft import_deepspeed(const ImportOptions& options) { return DeepspeedImport(options).write(); }

}  // namespace stepsim
