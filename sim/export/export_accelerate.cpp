// A plan as a configuration of Hugging Face's accelerate (huggingface/accelerate
// src/accelerate/commands/config/config_args.py).
//
// It says how ranks share the work. Model, batch and sequence length are the program's: options of
// the import state them.
#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/export/exporter.hpp"
#include "sim/export/stated_by_import.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// The stated one, or one that shards as the scenario does.
Framework accelerate_framework(const Scenario& scenario) {
  const Sharding& sharding = scenario.parallelism.data.sharding;
  if (scenario.framework) return *scenario.framework;
  if (sharding.shards_parameters) return Framework::pytorch_fsdp2;
  return sharding.shards_optimizer ? Framework::deepspeed : Framework::pytorch_ddp;
}

/// An export, section by section.
class AccelerateExport {
 public:
  explicit AccelerateExport(const Scenario& scenario)
      : s_(scenario), p_(scenario.parallelism), framework_(accelerate_framework(scenario)) {}

  Exported write() {
    transformer_of(s_, kTransformersOnly);
    refuse_others();
    text_ =
        fmt::format("# accelerate's configuration for {}, written by stepsim export accelerate.\n",
                    quoted(s_.name));
    key("compute_environment", "LOCAL_MACHINE");
    key("num_machines", s_.cluster.nodes);
    key("num_processes", s_.cluster.gpus());
    const Precision precision = s_.training.precision;
    const bool is_wide = precision == Precision::fp32 || precision == Precision::tf32;
    key("mixed_precision", is_wide ? "\"no\"" : name_of(precision));
    if (framework_ == Framework::deepspeed) {
      add_deepspeed();
    } else {
      add_pytorch();
    }
    return exported();
  }

 private:
  void refuse_others() const {
    std::vector<Diagnostic> refusals;
    const auto refuse = [&](const std::string& what) { refusals.push_back({.message = what}); };
    if (framework_ == Framework::megatron)
      refuse(
          "framework: megatron: accelerate's configuration leaves its options to "
          "`stepsim export megatron`");
    if (s_.training.precision == Precision::nvfp4)
      refuse("training.precision: nvfp4: accelerate has fp8, bf16, fp16 and fp32");
    const std::string no_degree = ": accelerate's options have no such degree";
    if (p_.pipeline.stages > 1)
      refuse(fmt::format("parallelism.pipeline.stages: {}{}", p_.pipeline.stages, no_degree));
    if (p_.expert.degree > 1)
      refuse(fmt::format("parallelism.expert.degree: {}{}", p_.expert.degree, no_degree));
    if (!refusals.empty()) throw UserError(refusals);
  }

  template <class T>
  void key(const char* name, const T& value) {
    text_ += fmt::format("{}{}: {}\n", section_ ? "  " : "", name, value);
  }
  void section(const char* name) {
    section_ = true;
    text_ += fmt::format("{}:\n", name);
  }

  void add_pytorch() {
    const bool is_fsdp = framework_ != Framework::pytorch_ddp;
    key("distributed_type", is_fsdp ? "FSDP" : s_.cluster.gpus() > 1 ? "MULTI_GPU" : "\"NO\"");
    if (is_fsdp) add_fsdp();
    add_splits();
    if (s_.training.fusion != "compiled") return;
    section("dynamo_config");
    key("dynamo_backend", "INDUCTOR");
  }

  void add_fsdp() {
    const DataParallel& data = p_.data;
    const bool keeps = data.reshard_after_forward == Reshard::none;
    section("fsdp_config");
    key("fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
    key("fsdp_offload_params", data.offload_optimizer);
    key("fsdp_activation_checkpointing", s_.training.recompute.kind == Recompute::full);
    if (framework_ == Framework::pytorch_fsdp2) {
      key("fsdp_version", 2);
      key("fsdp_reshard_after_forward", !keeps);
      return;
    }
    key("fsdp_version", 1);
    key("fsdp_sharding_strategy", strategy());
    key("fsdp_forward_prefetch", data.forward_prefetch);
    key("fsdp_backward_prefetch", data.backward_prefetch == Prefetch::pre    ? "BACKWARD_PRE"
                                  : data.backward_prefetch == Prefetch::post ? "BACKWARD_POST"
                                                                             : "NO_PREFETCH");
  }

  /// A hybrid of nodes is one by name; one of other sizes is a split.
  bool is_by_node() const {
    return s_.shard_groups() > 1 && *p_.data.shard_degree == s_.cluster.gpus_per_node;
  }

  std::string strategy() const {
    const bool keeps = p_.data.reshard_after_forward == Reshard::none;
    if (!p_.data.sharding.shards_parameters) return "NO_SHARD";
    if (is_by_node()) return keeps ? "HYBRID_SHARD_ZERO2" : "HYBRID_SHARD";
    return keeps ? "SHARD_GRAD_OP" : "FULL_SHARD";
  }

  void add_splits() {
    const bool named = framework_ == Framework::pytorch_fsdp1 && is_by_node();
    const int groups = framework_ == Framework::pytorch_ddp || named ? 1 : s_.shard_groups();
    if (p_.tensor * p_.context.degree * groups == 1) return;
    section("parallelism_config");
    key("parallelism_config_tp_size", p_.tensor);
    key("parallelism_config_cp_size", p_.context.degree);
    if (p_.context.degree > 1)
      key("parallelism_config_cp_comm_strategy",
          p_.context.kind == ContextKind::ring ? "alltoall" : "allgather");
    key("parallelism_config_dp_replicate_size", groups);
    key("parallelism_config_dp_shard_size", s_.data_parallel() / groups);
  }

  void add_deepspeed() {
    key("distributed_type", "DEEPSPEED");
    section("deepspeed_config");
    key("zero_stage", p_.data.sharding.shards());
    key("gradient_accumulation_steps", s_.micro_batches());
    key("gradient_clipping", s_.training.gradient_clipping ? "1.0" : "0.0");
    key("offload_optimizer_device", p_.data.offload_optimizer ? "cpu" : "none");
    key("offload_param_device", "none");
  }

  Exported exported() const {
    Exported exported{.text = text_};
    ImportOptions& import = exported.import;
    import.from = "accelerate";
    import.file = "exported.yaml";
    import.text = std::make_shared<Source>(Source{"exported.yaml", "", text_});
    import.model = model_option(s_.model);
    import.sequence_length = static_cast<int>(s_.training.sequence_length);
    import.micro_batch = static_cast<int>(s_.training.micro_batch);
    import.accumulation = s_.micro_batches();
    import.cluster = cluster_option(s_.cluster);
    if (s_.training.precision == Precision::tf32) import.precision = "tf32";
    exported.notes.emplace_back("model, sequence length, batch and optimizer: the program's own");
    return exported;
  }

  const Scenario& s_;
  const Parallelism& p_;
  Framework framework_;
  bool section_ = false;
  std::string text_;
};

const Registered<Exporter> registered{
    {.name = "accelerate",
     .description = "a configuration of Hugging Face's accelerate (YAML)",
     .framework = accelerate_framework,
     .write = [](const Scenario& scenario) { return AccelerateExport(scenario).write(); },
     .of_program = {"training.recompute", "training.lora", "training.optimizer"}}};

}  // namespace
}  // namespace stepsim
