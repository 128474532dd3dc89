// A plan as torchtitan's TOML (pytorch/torchtitan torchtitan/config/job_config.py, before
// 9810191bb, the last version with TOML; tried with v0.2.0, v0.2.2 and 238fa9953).
//
// Each key is the one that sim/import/import_torchtitan.cpp reads.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/export/checks.hpp"
#include "sim/export/exporter.hpp"
#include "sim/export/stated_by_import.hpp"
#include "sim/import/config/model_shape.hpp"
#include "sim/import/torchtitan/torchtitan_models.hpp"
#include "sim/import/torchtitan/torchtitan_pipeline.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// Models that it had before its options had these names (4d88a8a44).
constexpr std::string_view kFormer = "llama2";

std::vector<std::string> titan_names() {
  std::vector<std::string> names = torchtitan_names();
  std::erase(names, kFormer);
  return names;
}

/// Name and flavor of the model of that shape. Throws UserError where torchtitan has none.
std::pair<std::string, std::string> titan_model(const Scenario& scenario) {
  const Transformer& shape =
      transformer_of(scenario, "torchtitan's options name transformers alone");
  for (const std::string& name : titan_names())
    for (const std::string& flavor : torchtitan_flavors(name)) {
      const auto model = torchtitan_model(name, flavor);
      if (model && !model->empty() && shape_of_model(*model) == shape) return {name, flavor};
    }
  throw UserError(
      fmt::format("model {}: torchtitan has no model of that shape, and its options "
                  "cannot describe one; it has those of {}",
                  scenario.model.name, fmt::join(titan_names(), ", ")));
}

/// Schedules of pytorch/pytorch torch/distributed/pipelining/schedules.py.
std::string titan_schedule(const std::string& name) {
  if (name == "gpipe") return "GPipe";
  if (name == "interleaved-pytorch") return "Interleaved1F1B";
  return name == "zb-v" ? "ZBVZeroBubble" : "1F1B";
}

/// Layers that the first and the last stage have less.
struct LessLayers {
  std::int64_t first = 0, last = 0;
};

/// The numbers under which torchtitan deals out layers as the scenario does. Throws UserError where
/// there are none.
LessLayers less_layers(const Scenario& scenario, std::int64_t layers) {
  const Pipeline& pipeline = scenario.parallelism.pipeline;
  const std::int64_t parts = std::int64_t{pipeline.stages} * pipeline.chunks;
  auto wanted = pipeline.layers;
  if (wanted.empty()) wanted.assign(static_cast<std::size_t>(parts), layers / parts);
  const std::int64_t most = *std::ranges::max_element(wanted);
  for (std::int64_t first = 0; first < most; ++first)
    for (std::int64_t last = 0; last < most; ++last)
      if (torchtitan_layers(layers, parts, first, last) == wanted) return {first, last};
  throw UserError(
      fmt::format("parallelism.pipeline.layers: [{}]: torchtitan deals out layers "
                  "evenly, but for the first and the last stage",
                  fmt::join(wanted, ", ")));
}

/// An export, table by table.
class TorchtitanExport {
 public:
  explicit TorchtitanExport(const Scenario& scenario)
      : s_(scenario), t_(scenario.training), p_(scenario.parallelism) {}

  Exported write() {
    const auto [name, flavor] = titan_model(s_);
    refuse_what_torchtitan_checks(s_, name);
    text_ = fmt::format(
        "# torchtitan's configuration for {}, written by stepsim export "
        "torchtitan.\n",
        quoted(s_.name));
    add_model(name, flavor);
    add_training();
    add_parallelism();
    if (p_.pipeline.stages > 1) add_pipeline();
    add_recompute();
    table("compile");
    key("enable", t_.fusion == "compiled");
    if (t_.loss_chunks > 1) {
      table("loss");
      key("num_chunks", t_.loss_chunks);
    }
    Exported exported{.text = text_};
    exported.import.file = "exported.toml";
    exported.import.from = "torchtitan";
    exported.import.text = std::make_shared<Source>(Source{"exported.toml", "", text_});
    exported.import.cluster = cluster_option(s_.cluster);
    exported.import.nodes = s_.cluster.nodes;
    exported.notes.push_back(fmt::format("ranks: torchrun --nnodes {} --nproc_per_node {}",
                                         s_.cluster.nodes, s_.cluster.gpus_per_node));
    return exported;
  }

 private:
  static std::string quote(const std::string& text) { return fmt::format("\"{}\"", text); }
  void table(const char* name) { text_ += fmt::format("\n[{}]\n", name); }
  template <class T>
  void key(const char* name, const T& value) {
    text_ += fmt::format("{} = {}\n", name, value);
  }

  void add_model(const std::string& name, const std::string& flavor) {
    const bool is_fp8 = t_.precision == Precision::fp8;
    const bool is_mx = t_.fp8_scaling == Fp8Scaling::mxfp8;
    table("model");
    key("name", quote(name));
    key("flavor", quote(flavor));
    if (is_fp8)
      key("converters", is_mx ? "[\"quantize.linear.mx\"]" : "[\"quantize.linear.float8\"]");
    table("optimizer");
    key("name", "\"AdamW\"");
    key("implementation", t_.optimizer_kernels == OptimizerKernels::fused        ? "\"fused\""
                          : t_.optimizer_kernels == OptimizerKernels::foreach_op ? "\"foreach\""
                                                                                 : "\"for-loop\"");
    if (!is_fp8 || is_mx) return;
    table("quantize.linear.float8");
    // A scale a tensor is the recipe without a name too, and only that one gathers in float8
    // (torchtitan/components/quantization/float8.py).
    if (t_.fp8_parameters) {
      key("enable_fsdp_float8_all_gather", true);
    } else {
      key("recipe_name", "\"tensorwise\"");
    }
  }

  /// With a pipeline a local batch is all of a step's; without one, a micro-batch.
  void add_training() {
    const bool is_cut = p_.pipeline.stages > 1;
    const std::int64_t data = s_.data_parallel();
    table("training");
    key("seq_len", t_.sequence_length);
    key("local_batch_size", is_cut ? t_.global_batch / data : t_.micro_batch);
    key("global_batch_size", t_.global_batch);
    key("max_norm", t_.gradient_clipping ? "1.0" : "0.0");
    key("dtype", t_.master_weights ? "\"float32\"" : "\"bfloat16\"");
    const bool is_wide = t_.precision == Precision::fp32 || t_.precision == Precision::tf32;
    key("mixed_precision_param", is_wide ? "\"float32\"" : "\"bfloat16\"");
    key("mixed_precision_reduce", "\"float32\"");  // it has no other
    if (p_.data.offload_optimizer) key("enable_cpu_offload", true);
  }

  void add_parallelism() {
    const bool shards = p_.data.sharding.shards_optimizer;
    const int groups = s_.shard_groups(), data = s_.data_parallel();
    table("parallelism");
    key("data_parallel_replicate_degree", shards ? groups : data);
    key("data_parallel_shard_degree", shards ? data / groups : 1);
    key("tensor_parallel_degree", p_.tensor);
    key("context_parallel_degree", p_.context.degree);
    if (p_.context.degree > 1)
      key("context_parallel_rotate_method",
          p_.context.kind == ContextKind::ring ? "\"alltoall\"" : "\"allgather\"");
    key("pipeline_parallel_degree", p_.pipeline.stages);
    key("expert_parallel_degree", p_.expert.degree);
    if (p_.expert.degree > 1) {
      key("expert_tensor_parallel_degree", p_.expert.tensor.value_or(p_.tensor));
      if (p_.expert.dispatcher == Dispatcher::deepep)
        key("expert_parallel_comm_backend", "\"deepep\"");
      if (p_.expert.dispatcher == Dispatcher::hybrid_ep)
        key("expert_parallel_comm_backend", "\"hybridep\"");
    }
    if (!p_.data.sharding.shards_parameters) return;
    key("fsdp_reshard_after_forward", p_.data.reshard_after_forward == Reshard::none ? "\"never\""
                                      : p_.data.reshard_after_forward == Reshard::all
                                          ? "\"always\""
                                          : "\"default\"");
  }

  void add_pipeline() {
    const Pipeline& pipeline = p_.pipeline;
    const std::int64_t layers = std::get<Transformer>(s_.model.shape).layers;
    const LessLayers less = less_layers(s_, layers);
    const std::int64_t parts = std::int64_t{pipeline.stages} * pipeline.chunks;
    key("pipeline_parallel_schedule", quote(titan_schedule(pipeline.schedule)));
    key("pipeline_parallel_microbatch_size", t_.micro_batch);
    key("pipeline_parallel_first_stage_less_layers", less.first);
    key("pipeline_parallel_last_stage_less_layers", less.last);
    key("pipeline_parallel_layers_per_stage",
        (layers + less.first + less.last + parts - 1) / parts);
  }

  void add_recompute() {
    table("activation_checkpoint");
    key("mode", quote(name_of(t_.recompute.kind)));
    if (t_.recompute.kind == Recompute::selective) key("selective_ac_option", "\"op\"");
    if (t_.recompute.kind == Recompute::full) key("early_stop", t_.recompute.early_stop);
  }

  const Scenario& s_;
  const Training& t_;
  const Parallelism& p_;
  std::string text_;
};

/// Replicas that share nothing are DistributedDataParallel's.
Framework titan_framework(const Scenario& scenario) {
  const bool shares = scenario.parallelism.data.sharding.shards_optimizer ||
                      scenario.parallelism.context.degree > 1;
  return shares ? Framework::pytorch_fsdp2 : Framework::pytorch_ddp;
}

const Registered<Exporter> registered{
    {.name = "torchtitan",
     .description = "a torchtitan configuration (TOML)",
     .framework = titan_framework,
     .write = [](const Scenario& scenario) { return TorchtitanExport(scenario).write(); },
     // Beside stages its FSDP keeps parameters, as ZeRO-1 does.
     .compared = {"parallelism.data.sharding"}}};

}  // namespace
}  // namespace stepsim
