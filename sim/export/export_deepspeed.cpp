// A plan as DeepSpeed's JSON (deepspeedai/DeepSpeed deepspeed/runtime/config.py and
// deepspeed/runtime/zero/config.py). Buckets and thresholds count elements.
//
// It holds neither model, sequence length nor cluster: options of the import state them. What the
// program does itself (pipelines, sequence parallelism, checkpoints) stands in no key.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/core/error.hpp"
#include "sim/export/exporter.hpp"
#include "sim/export/stated_by_import.hpp"
#include "sim/scenario/describe/frameworks.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

using Json = nlohmann::ordered_json;

/// Splits that a program makes with classes of DeepSpeed. Throws UserError with those there are.
void refuse_splits_of_program(const Parallelism& p) {
  std::vector<Diagnostic> refusals;
  const auto refuse = [&](const char* key, int degree, const char* why) {
    if (degree > 1)
      refusals.push_back(
          {.message = fmt::format("{}: {}: no key of the file says it: {}", key, degree, why)});
  };
  refuse("parallelism.pipeline.stages", p.pipeline.stages,
         "the program builds a PipelineModule of so many stages");
  refuse("parallelism.context.degree", p.context.degree,
         "the program wraps attention in DistributedAttention");
  refuse("parallelism.expert.degree", p.expert.degree,
         "the program gives ep_size to its MoE layers");
  if (!refusals.empty()) throw UserError(refusals);
}

Json optimizer_json(const std::string& name) {
  if (name == "sgd" || name == "momentum")
    return {{"type", "SGD"}, {"params", {{"lr", 1e-4}, {"momentum", name == "sgd" ? 0.0 : 0.9}}}};
  if (name != "adam" && name != "lamb")
    throw UserError(
        fmt::format("training.optimizer: {}: deepspeed has adam, lamb, momentum and "
                    "sgd",
                    name));
  return {{"type", name == "lamb" ? "Lamb" : "AdamW"}, {"params", {{"lr", 1e-4}}}};
}

Json zero_json(const Scenario& s) {
  const DataParallel& data = s.parallelism.data;
  const bool is_third = data.sharding.shards_parameters;
  const double elements = data.bucket.base() / bytes_per_element(s.training.gradients);
  Json zero{{"stage", data.sharding.shards()},
            {"overlap_comm", data.overlap},
            {"reduce_bucket_size", static_cast<std::int64_t>(elements)}};
  if (is_third) zero["stage3_param_persistence_threshold"] = data.persistence_threshold;
  if (is_third && s.shard_groups() > 1) zero["mics_shard_size"] = *data.shard_degree;
  if (data.offload_optimizer) zero["offload_optimizer"] = {{"device", "cpu"}};
  return zero;
}

Json config_json(const Scenario& s) {
  const Training& t = s.training;
  Json config{{"train_batch_size", t.global_batch},
              {"train_micro_batch_size_per_gpu", t.micro_batch},
              {"gradient_accumulation_steps", s.micro_batches()},
              {"gradient_clipping", t.gradient_clipping ? 1.0 : 0.0},
              {"optimizer", optimizer_json(t.optimizer)}};
  if (t.precision == Precision::bf16 || t.precision == Precision::fp16)
    config[name_of(t.precision)] = {{"enabled", true}};
  // Stage 3 has one key for what the others keep and what they reduce in.
  const Precision usual = default_gradients(Framework::deepspeed, t.precision);
  const Precision sent = s.parallelism.data.reduce_dtype.value_or(t.gradients);
  if (t.gradients != usual && !s.parallelism.data.sharding.shards_parameters)
    config["data_types"] = {{"grad_accum_dtype", name_of(t.gradients)}};
  if (sent != usual) config["communication_data_type"] = name_of(sent);
  config["zero_optimization"] = zero_json(s);
  if (s.parallelism.tensor > 1) config["tensor_parallel"] = {{"autotp_size", s.parallelism.tensor}};
  return config;
}

Exported export_deepspeed(const Scenario& s) {
  transformer_of(s, kTransformersOnly);
  refuse_splits_of_program(s.parallelism);
  if (needs_scales(s.training.precision))
    throw UserError(fmt::format("training.precision: {}: deepspeed has bf16, fp16 and fp32",
                                name_of(s.training.precision)));
  Exported exported{.text = config_json(s).dump(2) + "\n"};
  ImportOptions& import = exported.import;
  import.from = "deepspeed";
  import.file = "exported.json";
  import.text = std::make_shared<Source>(Source{"exported.json", "", exported.text});
  import.model = model_option(s.model);
  import.sequence_length = static_cast<int>(s.training.sequence_length);
  import.cluster = cluster_option(s.cluster);
  import.nodes = s.cluster.nodes;
  // A switch of PyTorch's.
  if (s.training.precision == Precision::tf32) import.precision = "tf32";
  exported.notes.push_back(
      fmt::format("model, sequence length and ranks: deepspeed --num_nodes {} "
                  "--num_gpus {}, and the program's own options",
                  s.cluster.nodes, s.cluster.gpus_per_node));
  return exported;
}

const Registered<Exporter> registered{
    {.name = "deepspeed",
     .description = "a DeepSpeed configuration (JSON)",
     .framework = [](const Scenario&) { return Framework::deepspeed; },
     .write = export_deepspeed,
     .of_program = {"training.recompute", "training.lora"}}};

}  // namespace
}  // namespace stepsim
