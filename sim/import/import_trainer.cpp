// A file of Hugging Face's TrainingArguments as a scenario, also as TRL and LLaMA-Factory extend it
// (huggingface/transformers src/transformers/training_args.py).
//
// Ranks are DeepSpeed's where the file names its configuration, FSDP's where `fsdp` says so, and
// DistributedDataParallel's otherwise.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

class TrainerImport {
 public:
  explicit TrainerImport(const ImportOptions& options)
      : options_(options),
        draft_(
            fmt::format("TrainingArguments of {}, read by stepsim import trainer.", options.file)),
        config_(options.file, "a file of TrainingArguments"),
        settings_(trainer_settings(options, draft_)) {}

  Draft write() {
    if (config_.has("deepspeed")) return write_deepspeed();
    machine_ = machine_for(options_, {}, draft_);
    FsdpKeys plan = ranks();
    add_stand_ins(settings_, draft_);
    draft_.line("framework: " + plan.framework);
    draft_.line("model: " + written_name(settings_.model, options_));
    draft_.line("cluster: " + cluster_text(machine_));
    write_training(plan);
    draft_.line("parallelism:");
    draft_.map("  data", plan.data);
    config_.problems().throw_if_any();
    return std::move(draft_);
  }

 private:
  /// `fsdp` is a text of words, or a list of them; what else FSDP is told stands in `fsdp_config`.
  FsdpKeys ranks() {
    const std::string words = fsdp_words();
    if (words.find_first_not_of(' ') == std::string::npos) return without_sharding();
    JsonTree keys{.kind = JsonTree::Kind::map, .place = config_.tree().place};
    if (const JsonTree* stated = config_.find("fsdp_config");
        stated != nullptr && stated->is(JsonTree::Kind::map))
      keys = *stated;
    const auto add = [&](const std::string& name, const std::string& value) {
      keys.members.push_back(
          {name, keys.place, {.kind = JsonTree::Kind::text, .text = value, .place = keys.place}});
    };
    for (const std::string& strategy : fsdp_strategies())
      if (words.find(fmt::format(" {} ", in_lower_case(strategy))) != std::string::npos)
        add("fsdp_sharding_strategy", strategy);
    if (words.find("offload") != std::string::npos) add("fsdp_offload_params", "true");
    if (words.find("auto_wrap") != std::string::npos)
      add("fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
    JsonTree whole{.kind = JsonTree::Kind::map, .place = keys.place};
    whole.members.push_back({"fsdp_config", keys.place, std::move(keys)});
    Config section(std::move(whole), "");
    const std::string version = section.choice(
        section.first_of({"fsdp_config.version", "fsdp_config.fsdp_version"}), {"1", "2"}, "1");
    FsdpKeys plan = read_fsdp(section, "fsdp_config", version == "2" ? 2 : 1, 1, machine_.gpus(),
                              machine_, draft_);
    section.problems().throw_if_any();
    return plan;
  }

  /// FSDPOption of src/transformers/trainer_utils.py; newer versions take a switch, too.
  std::string fsdp_words() {
    static const std::vector<std::string> kWords{"full_shard",   "shard_grad_op",      "no_shard",
                                                 "hybrid_shard", "hybrid_shard_zero2", "offload",
                                                 "auto_wrap"};
    const JsonTree* stated = config_.find("fsdp");
    if (stated != nullptr && switch_of(*stated)) return *switch_of(*stated) ? " full_shard " : "";
    std::string words = fmt::format(" {} ", fmt::join(config_.list("fsdp"), " "));
    for (const std::string_view word : words_of(words))
      if (std::ranges::find(kWords, word) == kWords.end())
        config_.report(
            "fsdp",
            fmt::format("fsdp: {} is not {}", stepsim::quoted(std::string(word)), one_of(kWords)),
            closest(word, kWords));
    return words;
  }

  FsdpKeys without_sharding() {
    draft_.assume({"ranks", "DistributedDataParallel",
                   "the file has neither deepspeed nor fsdp; a launcher may have",
                   "stepsim import accelerate FILE --training-arguments " + options_.file});
    return {.framework = "pytorch-ddp", .data = {"sharding: ddp"}};
  }

  static bool shards(const FsdpKeys& plan) {
    return std::ranges::find(plan.data, "sharding: zero3") != plan.data.end();
  }

  void write_training(FsdpKeys& plan) {
    const Batch batch = trainer_batch(settings_, machine_.gpus(), draft_);
    add_no_sync(batch, machine_.gpus(), plan.data);
    const std::string precision = settings_.precision.empty() ? "fp32" : settings_.precision;
    Entries e{fmt::format("sequence_length: {}", settings_.sequence_length),
              fmt::format("global_batch: {}", batch.global),
              fmt::format("micro_batch: {}", batch.micro), "precision: " + precision,
              fmt::format("gradient_clipping: {}", settings_.clipping.value_or(true))};
    if (!settings_.optimizer.empty()) e.push_back("optimizer: " + settings_.optimizer);
    if (!settings_.optimizer_kernels.empty())
      e.push_back("optimizer_kernels: " + settings_.optimizer_kernels);
    if (settings_.recompute || plan.recompute) e.emplace_back("recompute: full");
    add_kernels(settings_, settings_.is_compiled, e);
    e.push_back("attention: " + attention_of(settings_, machine_.cluster.gpu));
    if (settings_.lora.empty()) e.emplace_back("fused_qkv: false");
    add_method(settings_, e, draft_);
    add_images(settings_, e, draft_);
    add_wide_parameters(settings_, precision, shards(plan), e, draft_);
    draft_.map("training", e);
    if (settings_.precision.empty())
      draft_.assume({"precision", "fp32", "neither bf16 nor fp16 is stated", "--precision NAME"});
  }

  Draft write_deepspeed() {
    const JsonTree* stated = config_.find("deepspeed");
    JsonTree config;
    if (stated->is(JsonTree::Kind::map)) {
      config = *stated;
    } else {
      config = deepspeed_file(config_, stated->text);
    }
    return import_deepspeed(
        {.config = std::move(config), .settings = std::move(settings_), .draft = std::move(draft_)},
        options_);
  }

  const ImportOptions& options_;
  Draft draft_;
  Config config_;
  TrainerSettings settings_;
  Machine machine_;
};

Draft import_trainer(const ImportOptions& options) {
  ImportOptions arguments = options;
  arguments.training_arguments = options.file;
  return TrainerImport(arguments).write();
}

bool is_trainer(const std::string&, const std::string& text) {
  return text.find("per_device_train_batch_size") != std::string::npos &&
         text.find("distributed_type:") == std::string::npos;
}

const Registered<Importer> registered{
    {.name = "trainer",
     .description = "TrainingArguments of Hugging Face, TRL or LLaMA-Factory (YAML or JSON)",
     .options = {"--cluster", "--nodes", "--model", "--sequence-length", "--precision",
                 "--micro-batch", "--accumulation", "--global-batch", "--format"},
     .recognises = is_trainer,
     .scenario = import_trainer}};

}  // namespace
}  // namespace stepsim
