// A DeepSpeed configuration as a scenario (deepspeedai/DeepSpeed deepspeed/runtime/config.py and
// deepspeed/runtime/zero/config.py). Buckets and thresholds count elements, and may be floats: 5e8.
//
// It says nothing about model, sequence length and cluster: those are options. "auto" is filled in
// as Hugging Face's Trainer does it (huggingface/transformers
// src/transformers/integrations/deepspeed.py), and listed as assumed.
#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/words.hpp"
#include "sim/import/config/config.hpp"
#include "sim/import/config/model_shape.hpp"
#include "sim/import/config/trainer.hpp"
#include "sim/import/deepspeed.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/written_name.hpp"

namespace stepsim {
namespace {

using Kind = JsonTree::Kind;

/// Sections of which keys are read, with one of them as it may have been meant.
constexpr std::pair<const char*, const char*> kSections[] = {
    {"bf16", "enabled"},           {"bfloat16", "enabled"}, {"data_types", "grad_accum_dtype"},
    {"fp16", "enabled"},           {"optimizer", "type"},   {"tensor_parallel", "autotp_size"},
    {"zero_optimization", "stage"}};

constexpr const char* kKept = "data_types.grad_accum_dtype";

/// Whether some value is left to the Trainer.
bool has_auto(const JsonTree& value) {
  if (is_text(value, "auto")) return true;
  return std::ranges::any_of(value.items, has_auto) ||
         std::ranges::any_of(value.members,
                             [](const auto& member) { return has_auto(member.value); });
}

class DeepspeedImport {
 public:
  DeepspeedImport(DeepspeedSource source, const ImportOptions& options)
      : options_(options),
        uses_trainer_(has_auto(source.config)),
        stated_(source.machine),
        settings_(std::move(source.settings)),
        config_(std::move(source.config), "auto"),
        draft_(std::move(source.draft)) {}

  Draft write() {
    check_sections();
    read_batch();
    add_stand_ins(settings_, draft_);
    draft_.line("framework: deepspeed");
    draft_.line("model: " + written_name(settings_.model, options_));
    draft_.line("cluster: " + cluster_text(machine_));
    write_training();
    write_parallelism();
    config_.note_the_rest(deepspeed_keys(), draft_);
    config_.problems().throw_if_any();
    return std::move(draft_);
  }

 private:
  /// A section that is no object would read as one without keys.
  void check_sections() {
    for (const auto& [name, key] : kSections) {
      const JsonTree* section = config_.find(name);
      if (section == nullptr || section->is(Kind::map)) continue;
      const bool holds_one = !section->is(Kind::list);
      config_.report(
          name, fmt::format("{}: {} is not an object", name, json_text(*section)),
          holds_one ? fmt::format("write {{\"{}\": {}}}", key, json_text(*section)) : "");
    }
  }

  void assume(const std::string& what, const std::string& value, const std::string& why,
              const std::string& state) {
    draft_.assume({what, value, why, state});
  }

  /// train_batch_size = micro-batch x accumulation steps x data-parallel ranks; what is missing
  /// follows from the others.
  void read_batch() {
    global_ = stated("train_batch_size", settings_.global_batch);
    micro_ = stated("train_micro_batch_size_per_gpu", settings_.micro_batch);
    steps_ = stated("gradient_accumulation_steps", settings_.accumulation);
    tensor_ = std::max<std::int64_t>(config_.count("tensor_parallel.autotp_size"), 1);
    if (config_.count("sequence_parallel_size") > 1)
      config_.report("sequence_parallel_size",
                     "sequence_parallel_size: such a split cannot be imported");
    read_machine();
    if (uses_trainer_) fill_batch();
    // Numbers that cannot be read do not show how they fit together.
    if (config_.problems().empty()) check_batch();
  }

  /// As an option or the file states it, or as TrainingArguments fill it in; 0: not stated.
  std::int64_t stated(const char* key, std::int64_t told) {
    const std::int64_t written = config_.count(key, 1);
    return told > 0 ? told : written;
  }

  /// Three batch sizes say how many ranks there are.
  void read_machine() {
    const bool all = global_ > 0 && micro_ > 0 && steps_ > 0;
    if (all && stated_.gpus == 0 && options_.nodes == 0) {
      const std::int64_t ranks = std::max<std::int64_t>(global_ / micro_ / steps_, 1);
      stated_.gpus = product_of({ranks, tensor_});
      stated_.why = fmt::format(
          "train_batch_size {} / (micro-batch {} x accumulation {}){}, on full nodes", global_,
          micro_, steps_, tensor_ > 1 ? fmt::format(" x {} tensor-parallel ranks", tensor_) : "");
    }
    stated_.needed = product_of({tensor_});
    machine_ = machine_for(options_, stated_, draft_);
  }

  std::int64_t ranks() const { return std::max<std::int64_t>(machine_.gpus() / tensor_, 1); }

  /// The Trainer's defaults where the batch is not stated; what follows from train_batch_size is
  /// left to check_batch().
  void fill_batch() {
    if (global_ > 0) return;
    const bool is_micro_told = micro_ > 0, are_steps_told = steps_ > 0;
    if (!is_micro_told) micro_ = kTrainerMicroBatch;
    if (!are_steps_told) steps_ = 1;
    if (!is_micro_told)
      assume("micro-batch", std::to_string(micro_),
             "\"auto\" is TrainingArguments' per_device_train_batch_size, 8 unless stated",
             "--micro-batch N");
    if (!are_steps_told)
      assume("accumulation", std::to_string(steps_),
             "\"auto\" is TrainingArguments' gradient_accumulation_steps, 1 unless stated",
             "--accumulation N");
    assume("global batch", std::to_string(micro_ * steps_ * ranks()),
           fmt::format("train_batch_size is left open: micro-batch {} x accumulation {} x {} "
                       "data-parallel ranks",
                       micro_, steps_, ranks()),
           "--global-batch N");
  }

  void check_batch() {
    const std::int64_t steps = std::max<std::int64_t>(steps_, 1);
    const std::int64_t data = ranks();
    if (global_ == 0 && micro_ == 0)
      return config_.problems().add(
          {config_.tree().place.source, 1, 1}, "",
          "neither train_batch_size nor train_micro_batch_size_per_gpu is stated");
    if (micro_ == 0) micro_ = std::max<std::int64_t>(global_ / (data * steps), 1);
    const double product = static_cast<double>(micro_) * static_cast<double>(data * steps);
    if (product <= 1e12 && global_ == 0) global_ = micro_ * steps * data;
    const std::int64_t passes = steps_ > 0 ? steps : global_ / (micro_ * data);
    if (product <= 1e12 && global_ == micro_ * data * passes) return;
    config_.report("train_batch_size",
                   fmt::format("train_batch_size {} is not train_micro_batch_size_per_gpu {} x "
                               "gradient_accumulation_steps {} x {} data-parallel ranks",
                               global_, micro_, steps, data));
  }

  std::string optimizer() {
    std::string name = config_.text("optimizer.type");
    if (has_trainer_optimizer()) return trainer_optimizer();
    name = in_lower_case(name.empty() ? "Adam" : name);
    if (name == "sgd") {
      const JsonTree* params = config_.find("optimizer.params");
      const JsonTree* momentum = params == nullptr ? nullptr : params->find("momentum");
      if (momentum != nullptr && !momentum->is(Kind::number))
        config_.refuse("optimizer.params.momentum", *momentum, "a number");
      return momentum != nullptr && number_of(*momentum) != 0 ? "momentum" : "sgd";
    }
    if (name == "lamb") return name;
    if (name != "adam" && name != "adamw") draft_.note("optimizer.type " + name, "Adam");
    return "adam";
  }

  /// The optimizer is the Trainer's own where the file has none.
  bool has_trainer_optimizer() { return uses_trainer_ && config_.text("optimizer.type").empty(); }

  std::string trainer_optimizer() {
    if (!settings_.optimizer.empty()) return settings_.optimizer;
    assume("optimizer", "AdamW", "the file has none, and the Trainer's default is AdamW",
           "--training-arguments FILE");
    return "adam";
  }

  /// The type that the engine casts all parameters to; "": they stay as they are.
  std::string cast_type() {
    const bool is_bf16 = config_.is_on("bf16.enabled"),
               was_bf16 = config_.is_on("bfloat16.enabled");
    const bool is_fp16 = config_.is_on("fp16.enabled");
    return is_bf16 || was_bf16 ? "bf16" : is_fp16 ? "fp16" : "";
  }

  /// Parameters stay fp32, and passes run under autocast (deepspeed/runtime/torch_autocast.py).
  /// Beside a type that parameters are cast to autocast finds them narrow already
  /// (deepspeed/runtime/engine.py, _configure_distributed_model).
  bool autocasts() {
    return !options_.precision && config_.is_on("torch_autocast.enabled") && cast_type().empty();
  }
  void note_idle_autocast() {
    if (options_.precision || !config_.is_on("torch_autocast.enabled") || cast_type().empty())
      return;
    autocast_type();  // read, and checked
    draft_.note("torch_autocast", fmt::format("parameters are {0} beside {0}.enabled, so that "
                                              "autocast has none to cast; older releases of "
                                              "DeepSpeed refuse the two together",
                                              cast_type()));
  }
  std::string autocast_type() {
    config_.list("torch_autocast.lower_precision_safe_modules");
    const std::string type =
        config_.choice("torch_autocast.dtype",
                       {"bfloat16", "float16", "torch.bfloat16", "torch.float16"}, "bfloat16");
    return type.ends_with("bfloat16") ? "bf16" : "fp16";
  }
  /// Stage 3 gathers and reduces what autocast narrows in that type; the others reduce fp32 here.
  void add_autocast(Entries& e) {
    const bool is_stage_3 = config_.count("zero_optimization.stage") == 3;
    e.emplace_back(is_stage_3 ? "parameters: fp32" : "autocast: true");
    if (is_stage_3) return;
    gradients_ = 4;
    draft_.note("torch_autocast", "gradients are reduced in fp32");
  }

  std::string precision() {
    if (options_.precision) return *options_.precision;
    if (std::string type = cast_type(); !type.empty()) return type;
    if (autocasts()) return autocast_type();
    const bool bf16 =
        config_.is_placeholder("bf16.enabled") || config_.is_placeholder("bfloat16.enabled");
    if (!bf16 && !config_.is_placeholder("fp16.enabled")) return "fp32";
    if (!settings_.precision.empty()) return settings_.precision;
    std::string assumed = bf16 ? "bf16" : "fp16";
    assume("precision", assumed, fmt::format("\"auto\" is TrainingArguments' {}", assumed),
           "--precision NAME");
    return assumed;
  }

  /// A type of gradients, or nothing where the file does not state it.
  std::optional<std::string> gradient_type(const std::string& key) {
    const JsonTree* type = config_.find(key);
    if (type == nullptr) return std::nullopt;
    const std::set<std::string> types{"fp32", "fp16", "bf16"};
    if (!type->is(Kind::text) || !types.contains(type->text))
      config_.refuse(key, *type, "fp32, fp16 or bf16");
    return type->text;
  }
  /// Gradients are kept in grad_accum_dtype and reduced in communication_data_type; either is the
  /// model's type where it is not stated (deepspeed/runtime/engine.py, get_data_types and
  /// communication_data_type). Stage 3 has one key for both: the type that it reduces in.
  void add_gradients(const std::string& precision, Entries& e) {
    const auto kept = gradient_type(kKept), sent = gradient_type("communication_data_type");
    const bool is_stage_3 = config_.count("zero_optimization.stage") == 3;
    if (is_stage_3 && kept) draft_.note(kKept, "gradients add up in the type of their parameters");
    const auto stated = is_stage_3 ? sent : kept;
    if (stated) {
      e.push_back("gradients: " + *stated);
      gradients_ = *stated == "fp32" ? 4 : 2;
    }
    const std::string narrow = precision == "tf32" ? "fp32" : precision;
    const std::string usual = autocasts() ? "fp32" : narrow;
    const std::string lies = kept.value_or(usual), goes = sent.value_or(usual);
    if (!is_stage_3 && lies != goes) reduce_dtype_ = goes;
  }

  bool clips() {
    const bool is_open = config_.is_placeholder("gradient_clipping");
    if (config_.has("gradient_clipping"))
      return config_.number("gradient_clipping").value_or(0) > 0;
    if (!is_open) {
      assume("gradient clipping", "1.0",
             "gradient_clipping is not stated; its default since DeepSpeed 0.19.3, 0 before",
             "gradient_clipping in the file");
      return true;
    }
    if (settings_.clipping) return *settings_.clipping;
    assume("gradient clipping", "1.0",
           "\"auto\" is TrainingArguments' max_grad_norm, 1.0 unless stated",
           "--training-arguments FILE");
    return true;
  }

  void write_training() {
    const std::string precision = this->precision();
    note_idle_autocast();
    Entries e{fmt::format("sequence_length: {}", settings_.sequence_length),
              fmt::format("global_batch: {}", global_),
              fmt::format("micro_batch: {}", micro_),
              "precision: " + precision,
              "optimizer: " + optimizer(),
              fmt::format("gradient_clipping: {}", clips())};
    gradients_ = precision == "fp32" || precision == "tf32" ? 4 : 2;
    if (autocasts()) add_autocast(e);
    add_gradients(precision, e);
    if (has_trainer_optimizer() && !settings_.optimizer_kernels.empty())
      e.push_back("optimizer_kernels: " + settings_.optimizer_kernels);
    if (settings_.recompute) e.emplace_back("recompute: full");
    if (settings_.is_compiled || settings_.has_liger_modules || !settings_.cross_entropy.empty())
      add_kernels(settings_, settings_.is_compiled, e);
    e.push_back("attention: " + (settings_.attention.empty()
                                     ? fused_attention(machine_.cluster.gpu)
                                     : attention_of(settings_, machine_.cluster.gpu)));
    add_method(settings_, e, draft_);
    add_images(settings_, e, draft_);
    draft_.map("training", e);
  }

  /// The hidden size that the Trainer sizes buckets by.
  std::int64_t hidden() {
    const std::optional<Transformer> shape = shape_of_model(settings_.model);
    if (!shape)
      throw UserError(fmt::format(
          "{} has no hidden size, by which the Trainer replaces \"auto\": state the sizes",
          settings_.model));
    return shape->hidden;
  }

  /// The spelling that is there: some keys have had a prefix, which DeepSpeed has both with and
  /// without.
  std::string spelling(const std::string& key) {
    const std::string plain = "zero_optimization." + key;
    const std::string with = "zero_optimization.stage3_" + key;
    return config_.is_placeholder(with) || config_.has(with) ? with : plain;
  }

  /// Elements as stated, or as the Trainer computes them of the hidden size; nothing: neither.
  std::optional<std::int64_t> elements(const std::string& path, std::int64_t least, double factor,
                                       int power) {
    if (!config_.is_placeholder(path))
      return config_.has(path) ? std::optional(config_.count(path, least)) : std::nullopt;
    const auto h = static_cast<double>(hidden());
    const auto value = static_cast<std::int64_t>(factor * (power == 2 ? h * h : h));
    assume(path, fmt::format("{} elements", value),
           fmt::format("\"auto\" is {}hidden{} of a model of hidden size {}",
                       factor == 1 ? "" : fmt::format("{} x ", factor),
                       power == 2 ? " x hidden" : "", h),
           "a number in the file");
    return value;
  }

  void write_parallelism() {
    const std::int64_t stage = config_.count("zero_optimization.stage");
    if (stage > 3)
      config_.refuse("zero_optimization.stage", *config_.find("zero_optimization.stage"),
                     "0, 1, 2 or 3");
    Entries data{fmt::format("sharding: {}", stage == 0 ? "ddp" : fmt::format("zero{}", stage))};
    const auto bucket = elements("zero_optimization.reduce_bucket_size", 1, 1, 2);
    if (bucket.value_or(0) > 0)
      data.push_back("bucket: " + size_text(static_cast<double>(*bucket) * gradients_));
    if (config_.has("zero_optimization.overlap_comm"))
      data.push_back(fmt::format("overlap: {}", config_.is_on("zero_optimization.overlap_comm")));
    if (!reduce_dtype_.empty()) data.push_back("reduce_dtype: " + reduce_dtype_);
    if (stage == 3) add_stage_3(data);
    add_offload(stage, data);
    add_shard_size(stage, data);
    draft_.line("parallelism:");
    if (tensor_ > 1) draft_.line(fmt::format("  tensor: {}", tensor_));
    draft_.map("  data", data);
  }

  void add_stage_3(Entries& data) {
    if (const auto threshold = elements(spelling("param_persistence_threshold"), 0, 10, 1))
      data.push_back(fmt::format("persistence_threshold: {}", *threshold));
    const std::string prefetch = spelling("prefetch_bucket_size");
    if (elements(prefetch, 0, 0.9, 2)) draft_.note(prefetch, "gathers look one block ahead");
  }

  /// Without ZeRO nothing is offloaded (deepspeed/runtime/engine.py).
  void add_offload(std::int64_t stage, Entries& data) {
    const std::string key = "zero_optimization.offload_optimizer";
    const JsonTree* value = config_.find(key);
    if (value == nullptr) return;
    if (!value->is(Kind::map)) return config_.refuse(key, *value, "an object");
    const JsonTree* device = value->find("device");
    if (device == nullptr || device->is(Kind::null) || is_text(*device, "none")) return;
    if (!is_text(*device, "cpu") && !is_text(*device, "nvme"))
      return config_.refuse(key + ".device", *device, "none, cpu or nvme");
    if (stage == 0) return draft_.note(key, "stage 0 offloads nothing");
    data.emplace_back("offload_optimizer: true");
    if (is_text(*device, "nvme"))
      draft_.note(key + ".device nvme", "the optimizer's state is in the CPU's memory");
    const JsonTree* share = value->find("ratio");
    if (share == nullptr || share->is(Kind::null) || is_text(*share, "auto")) return;
    if (!share->is(Kind::number)) return config_.refuse(key + ".ratio", *share, "a number");
    if (number_of(*share) < 1)
      draft_.note(fmt::format("{}.ratio {}", key, share->text), "all of it is on the CPU");
  }

  /// MiCS: neighbouring ranks share one copy of the parameters; a stage 3 of its own
  /// (deepspeed/runtime/zero/mics.py).
  void add_shard_size(std::int64_t stage, Entries& data) {
    const std::string key = "zero_optimization.mics_shard_size";
    const JsonTree* value = config_.find(key);
    if (value == nullptr || (value->is(Kind::number) && number_of(*value) == -1)) return;
    const std::int64_t size = config_.count(key, 1);
    if (size == 0) return;  // refused
    if (stage != 3) return draft_.note(key, "only stage 3 has it");
    if (ranks() % size != 0)
      return config_.report(
          key, fmt::format("{}: {} does not divide {} data-parallel ranks", key, size, ranks()));
    if (size == 1) return draft_.note(key + " 1", "parameters are sharded over all ranks");
    data.push_back(fmt::format("shard_degree: {}", size));
  }

  const ImportOptions& options_;
  bool uses_trainer_;
  StatedMachine stated_;
  TrainerSettings settings_;
  Config config_;
  Draft draft_;
  std::int64_t global_ = 0, micro_ = 0, steps_ = 0, tensor_ = 1;
  double gradients_ = 2;      ///< bytes of an element in its bucket
  std::string reduce_dtype_;  ///< that buckets are cast to; "": none
  Machine machine_;
};

Draft import_file(const ImportOptions& options) {
  Draft draft(fmt::format("DeepSpeed's {}, read by stepsim import deepspeed.", options.file));
  TrainerSettings settings = trainer_settings(options, draft);
  return import_deepspeed(
      {.config = Config(source_of(options), "a DeepSpeed configuration", "auto").tree(),
       .settings = std::move(settings),
       .draft = std::move(draft)},
      options);
}

bool is_configuration(const std::string&, const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_object = first != std::string::npos && text[first] == '{';
  const auto has = [&](const char* key) { return text.find(key) != std::string::npos; };
  return is_object && (has("\"zero_optimization\"") || has("\"train_batch_size\"") ||
                       has("\"train_micro_batch_size_per_gpu\""));
}

const Registered<Importer> registered{{.name = "deepspeed",
                                       .description = "a DeepSpeed configuration (JSON)",
                                       .options = trainer_options(),
                                       .recognises = is_configuration,
                                       .scenario = import_file}};

}  // namespace

Draft import_deepspeed(DeepspeedSource source, const ImportOptions& options) {
  return DeepspeedImport(std::move(source), options).write();
}

}  // namespace stepsim
