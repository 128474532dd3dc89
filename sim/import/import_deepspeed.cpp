// A DeepSpeed configuration as a scenario (deepspeedai/DeepSpeed deepspeed/runtime/config.py and
// deepspeed/runtime/zero/config.py). Buckets and thresholds count elements, and may be floats: 5e8.
//
// It says nothing about model, sequence length and cluster: those are options. "auto", which the
// Hugging Face trainer fills in, reads as if it were absent.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/json_tree.hpp"
#include "sim/core/problems.hpp"
#include "sim/core/source.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/machine.hpp"

namespace stepsim {
namespace {

using Json = JsonTree;
using Kind = Json::Kind;

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

/// Sections of which keys are read, with one of them as it may have been meant.
constexpr std::pair<const char*, const char*> kSections[] = {{"bf16", "enabled"},
                                                             {"bfloat16", "enabled"},
                                                             {"fp16", "enabled"},
                                                             {"optimizer", "type"},
                                                             {"tensor_parallel", "autotp_size"},
                                                             {"zero_optimization", "stage"}};

/// As JSON has it, as far as it stands on a line.
std::string json_text(const Json& value) {
  std::string text = quoted(value.text);
  switch (value.kind) {
    case Kind::text:
      text.front() = text.back() = '"';
      return text;
    case Kind::list:
      return "[...]";
    case Kind::map:
      return "{...}";
    default:
      return text.substr(1, text.size() - 2);
  }
}

bool is_text(const Json& value, std::string_view text) {
  return value.is(Kind::text) && value.text == text;
}
bool is_flag(const Json& value, bool flag) {
  return value.is(Kind::flag) && value.text == (flag ? "true" : "false");
}

/// 0 for what is no number.
double number_of(const Json& value) {
  double number = 0;
  if (value.is(Kind::number))
    std::from_chars(value.text.data(), value.text.data() + value.text.size(), number);
  return number;
}

/// What counts as absent.
bool is_unsaid(const Json& value) { return value.is(Kind::null) || is_text(value, "auto"); }

/// Values under which such a key changes nothing.
bool is_default(const std::string& key, const Json& value) {
  if (is_unsaid(value)) return true;
  if (key.ends_with("reduce_scatter") || key.ends_with("allgather_partitions"))
    return is_flag(value, true);
  if (value.is(Kind::flag)) return is_flag(value, false);
  if (key.ends_with("zero_hpz_partition_size")) return number_of(value) == 1;
  const Json* device = value.find("device");
  const Json* enabled = value.find("enabled");
  return (device != nullptr && is_text(*device, "none")) ||
         (enabled != nullptr && is_flag(*enabled, false));
}

/// What is there twice goes to the problems; without an object there is nothing to go on with.
Json json_of(const std::shared_ptr<const Source>& source, Problems& problems) {
  if (source->text.size() > kLargestFile)
    problems.add({source, 0, 0}, "",
                 fmt::format("the file is larger than {} MiB: this is no DeepSpeed configuration",
                             kLargestFile >> 20));
  problems.throw_if_any();
  const auto config = parse_json(source, problems);
  if (config && !config->is(Kind::map))
    problems.add({source, 1, 1}, "", "a DeepSpeed configuration is an object");
  if (!config || !config->is(Kind::map)) problems.throw_if_any();
  return *config;
}

// What stands in for what DeepSpeed's file does not hold.
constexpr const char* kModel = "llama2-7b";
constexpr int kSequenceLength = 2048;

class DeepspeedImport {
 public:
  explicit DeepspeedImport(const ImportOptions& options)
      : options_(options),
        source_(read_source(options.file)),
        config_(json_of(source_, problems_)),
        draft_(fmt::format("DeepSpeed's {}, read by stepsim import deepspeed.", options.file)) {}

  Draft write() {
    check_sections();
    read_batch();
    draft_.line("framework: deepspeed");
    draft_.line("model: " + options_.model.value_or(kModel));
    if (!options_.model)
      draft_.assume({"model", kModel, "the file does not name one", "--model NAME"});
    if (!options_.sequence_length)
      draft_.assume({"sequence length", std::to_string(kSequenceLength),
                     "the file does not state it", "--sequence-length TOKENS"});
    draft_.line("cluster: " + cluster_text(machine_));
    write_training();
    write_parallelism();
    note_the_rest("", config_);
    problems_.throw_if_any();
    return std::move(draft_);
  }

 private:
  using Entries = std::vector<std::string>;

  /// A section that is no object would read as one without keys.
  void check_sections() {
    for (const auto& [name, key] : kSections) {
      const Json* section = config_.find(name);
      if (section == nullptr || is_unsaid(*section) || section->is(Kind::map)) continue;
      const bool holds_one = !section->is(Kind::list);
      problems_.add(section->place, name,
                    fmt::format("{}: {} is not an object", name, json_text(*section)),
                    holds_one ? fmt::format("write {{\"{}\": {}}}", key, json_text(*section)) : "");
    }
  }

  /// The value at "section.key", if it is there and says something.
  const Json* find(const std::string& path) {
    read_.insert(path);
    const std::size_t dot = path.find('.');
    const std::string section = path.substr(0, dot);
    const Json* value = config_.find(section);
    if (dot != std::string::npos && value != nullptr) {
      read_.insert(section);
      value = value->find(path.substr(dot + 1));
    }
    return value == nullptr || is_unsaid(*value) ? nullptr : value;
  }
  void refuse(const std::string& path, const Json& value, const std::string& wanted) {
    problems_.add(value.place, path,
                  fmt::format("{}: {} is not {}", path, json_text(value), wanted));
  }
  /// Whole numbers may be written as floats. 0: not stated.
  std::int64_t count(const std::string& path, std::int64_t least = 0) {
    const Json* value = find(path);
    if (value == nullptr) return 0;
    const double number = number_of(*value);
    if (!value->is(Kind::number)) {
      refuse(path, *value, "a number");
    } else if (!(number >= static_cast<double>(least) && number <= 1e12) ||
               number != static_cast<double>(static_cast<std::int64_t>(number))) {
      refuse(path, *value, fmt::format("a whole number from {} to 1e12", least));
    } else {
      return static_cast<std::int64_t>(number);
    }
    return 0;
  }
  bool is_on(const std::string& path) {
    const Json* value = find(path);
    if (value != nullptr && !value->is(Kind::flag)) refuse(path, *value, "true or false");
    return value != nullptr && is_flag(*value, true);
  }
  /// "" where it is not stated.
  std::string text(const std::string& path) {
    const Json* value = find(path);
    if (value != nullptr && !value->is(Kind::text)) refuse(path, *value, "a text");
    return value != nullptr && value->is(Kind::text) ? value->text : "";
  }

  /// train_batch_size = micro-batch x accumulation steps x data-parallel ranks; what is missing
  /// follows from the others.
  void read_batch() {
    global_ = count("train_batch_size", 1);
    micro_ = count("train_micro_batch_size_per_gpu", 1);
    const std::int64_t stated_steps = count("gradient_accumulation_steps", 1);
    const std::int64_t steps = std::max<std::int64_t>(stated_steps, 1);
    tensor_ = std::max<std::int64_t>(count("tensor_parallel.autotp_size"), 1);
    if (count("sequence_parallel_size") > 1)
      problems_.add(find("sequence_parallel_size")->place, "sequence_parallel_size",
                    "sequence_parallel_size: such a split cannot be imported");
    const bool all = global_ > 0 && micro_ > 0 && stated_steps > 0;
    const std::int64_t ranks = all ? std::max<std::int64_t>(global_ / micro_ / steps, 1) : 1;
    const std::int64_t needed = std::min(ranks * std::min(tensor_, kMostGpus), kMostGpus);
    machine_ = machine_for(options_, {.needed = static_cast<int>(needed)}, draft_);
    // Fewer ranks than a node has are a smaller node.
    if (all && options_.nodes == 0 && needed < machine_.gpus_per_node)
      machine_.gpus_per_node = static_cast<int>(needed);
    // Numbers that cannot be read do not show how they fit together.
    if (problems_.empty()) check_batch(stated_steps);
  }

  void check_batch(std::int64_t stated_steps) {
    const std::int64_t steps = std::max<std::int64_t>(stated_steps, 1);
    const std::int64_t data = std::max<std::int64_t>(machine_.gpus() / tensor_, 1);
    if (global_ == 0 && micro_ == 0)
      return problems_.add({source_, 1, 1}, "",
                           "neither train_batch_size nor train_micro_batch_size_per_gpu is stated");
    if (micro_ == 0) micro_ = std::max<std::int64_t>(global_ / (data * steps), 1);
    const double product = static_cast<double>(micro_) * static_cast<double>(data * steps);
    if (product <= 1e12 && global_ == 0) global_ = micro_ * steps * data;
    const std::int64_t passes = stated_steps > 0 ? steps : global_ / (micro_ * data);
    if (product <= 1e12 && global_ == micro_ * data * passes) return;
    const Json* stated = find("train_batch_size");
    problems_.add(stated == nullptr ? config_.place : stated->place, "train_batch_size",
                  fmt::format("train_batch_size {} is not train_micro_batch_size_per_gpu {} x "
                              "gradient_accumulation_steps {} x {} data-parallel ranks",
                              global_, micro_, steps, data));
  }

  std::string optimizer() {
    std::string name = text("optimizer.type");
    if (name.empty()) name = "Adam";
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name == "sgd") {
      const Json* params = find("optimizer.params");
      const Json* momentum = params == nullptr ? nullptr : params->find("momentum");
      if (momentum != nullptr && !momentum->is(Kind::number))
        refuse("optimizer.params.momentum", *momentum, "a number");
      return momentum != nullptr && number_of(*momentum) != 0 ? "momentum" : "sgd";
    }
    if (name == "lamb") return name;
    if (name != "adam" && name != "adamw") draft_.note("optimizer.type " + name, "Adam");
    return "adam";
  }

  void write_training() {
    const bool bf16 = is_on("bf16.enabled") || is_on("bfloat16.enabled");
    const bool fp16 = !bf16 && is_on("fp16.enabled");
    const Json* clip = find("gradient_clipping");
    if (clip != nullptr && !clip->is(Kind::number)) refuse("gradient_clipping", *clip, "a number");
    Entries e{
        fmt::format("sequence_length: {}", options_.sequence_length.value_or(kSequenceLength)),
        fmt::format("global_batch: {}", global_),
        fmt::format("micro_batch: {}", micro_),
        fmt::format("precision: {}", bf16   ? "bf16"
                                     : fp16 ? "fp16"
                                            : "fp32"),
        "optimizer: " + optimizer(),
        fmt::format("gradient_clipping: {}", clip != nullptr && number_of(*clip) > 0)};
    gradients_ = bf16 || fp16 ? 2 : 4;
    if (const Json* type = find("communication_data_type")) {
      const std::set<std::string> types{"fp32", "fp16", "bf16"};
      if (!type->is(Kind::text) || !types.contains(type->text))
        refuse("communication_data_type", *type, "fp32, fp16 or bf16");
      gradients_ = type->text == "fp32" ? 4 : 2;
      e.push_back("gradients: " + type->text);
    }
    e.push_back("attention: " + fused_attention(machine_.cluster.gpu));
    draft_.map("training", e);
  }

  void write_parallelism() {
    const std::int64_t stage = count("zero_optimization.stage");
    if (stage > 3)
      refuse("zero_optimization.stage", *find("zero_optimization.stage"), "0, 1, 2 or 3");
    Entries data{fmt::format("sharding: {}", stage == 0 ? "ddp" : fmt::format("zero{}", stage))};
    const std::int64_t bucket = count("zero_optimization.reduce_bucket_size", 1);
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
    if (!value->is(Kind::map)) return refuse(key, *value, "an object");
    const Json* device = value->find("device");
    if (device == nullptr || device->is(Kind::null) || is_text(*device, "none")) return;
    if (!is_text(*device, "cpu") && !is_text(*device, "nvme"))
      return refuse(key + ".device", *device, "none, cpu or nvme");
    if (stage == 0) return draft_.note(key, "stage 0 offloads nothing");
    data.emplace_back("offload_optimizer: true");
    if (is_text(*device, "nvme"))
      draft_.note(key + ".device nvme", "the optimizer's state is in the CPU's memory");
    const Json* share = value->find("ratio");
    if (share == nullptr || is_unsaid(*share)) return;
    if (!share->is(Kind::number)) return refuse(key + ".ratio", *share, "a number");
    if (number_of(*share) < 1)
      draft_.note(fmt::format("{}.ratio {}", key, share->text), "all of it is on the CPU");
  }

  /// MiCS: neighbouring ranks share one copy of the parameters; a stage 3 of its own
  /// (deepspeed/runtime/zero/mics.py).
  void add_shard_size(std::int64_t stage, Entries& data) {
    const std::string key = "zero_optimization.mics_shard_size";
    const Json* value = find(key);
    if (value == nullptr || (value->is(Kind::number) && number_of(*value) == -1)) return;
    const std::int64_t size = count(key, 1);
    if (size == 0) return;  // refused
    if (stage != 3) return draft_.note(key, "only stage 3 has it");
    const std::int64_t ranks = std::max<std::int64_t>(machine_.gpus() / tensor_, 1);
    if (ranks % size != 0)
      return problems_.add(
          value->place, key,
          fmt::format("{}: {} does not divide {} data-parallel ranks", key, size, ranks));
    if (size == 1) return draft_.note(key + " 1", "parameters are sharded over all ranks");
    data.push_back(fmt::format("shard_degree: {}", size));
  }

  void note_the_rest(const std::string& prefix, const Json& section) {
    for (const auto& [name, place, value] : section.members) {
      const std::string path = prefix + name;
      const auto known = kNotSimulated.find(path);
      if (known != kNotSimulated.end()) {
        if (!is_default(path, value)) draft_.note(path, known->second);
      } else if (kHarmless.contains(path)) {
        continue;
      } else if (prefix.empty() && value.is(Kind::map) && read_.contains(path)) {
        note_the_rest(path + ".", value);
      } else if (!read_.contains(path)) {
        draft_.note(path, "not known here");
      }
    }
  }

  static constexpr std::int64_t kMostGpus = 1'000'000;

  const ImportOptions& options_;
  Problems problems_;
  std::shared_ptr<const Source> source_;
  Json config_;
  Draft draft_;
  std::set<std::string, std::less<>> read_;
  std::int64_t global_ = 0, micro_ = 0, tensor_ = 1;
  double gradients_ = 2;  ///< bytes of an element as it is reduced
  Machine machine_;
};

Draft import_deepspeed(const ImportOptions& options) { return DeepspeedImport(options).write(); }

bool is_configuration(const std::string&, const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_object = first != std::string::npos && text[first] == '{';
  const auto has = [&](const char* key) { return text.find(key) != std::string::npos; };
  return is_object && (has("\"zero_optimization\"") || has("\"train_batch_size\"") ||
                       has("\"train_micro_batch_size_per_gpu\""));
}

const Registered<Importer> registered{
    {.name = "deepspeed",
     .description = "a DeepSpeed configuration (JSON)",
     .options = {"--cluster", "--nodes", "--model", "--sequence-length", "--format"},
     .recognises = is_configuration,
     .scenario = import_deepspeed}};

}  // namespace
}  // namespace stepsim
