// A torchtitan TOML file as a scenario (pytorch/torchtitan torchtitan/config/job_config.py, which
// was read before 9810191bb, the last version with TOML; older spellings as of 2024 and 2025).
//
// What its code does and the file does not say is as validate/suites/torchtitan.yaml has it.
#include <algorithm>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "sim/import/config/config.hpp"
#include "sim/import/config/fsdp_keys.hpp"
#include "sim/import/config/model_shape.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/machine.hpp"
#include "sim/import/torchtitan/torchtitan_models.hpp"
#include "sim/import/torchtitan/torchtitan_pipeline.hpp"
#include "sim/import/written_name.hpp"

namespace stepsim {
namespace {

const KnownKeys kKnown{
    .harmless = paths_of(
        {{"",
          "checkpoint comm debug job lr_scheduler memory_estimation metrics "
          "profiling validation"},
         {"activation_checkpoint",
          "debug determinism_check "
          "per_op_sac_force_recompute_mm_shapes_by_fqns preserve_rng_state "
          "visualize_memory_budget_pareto"},
         {"compile", "backend"},
         {"experimental",
          "custom_args_module custom_import custom_model_path "
          "enable_compiled_autograd"},
         {"fault_tolerance",
          "fragment_fn group_size min_replica_size num_fragments process_group "
          "process_group_timeout_ms replica_id semi_sync_method sync_steps"},
         {"float8",
          "filter_fqns force_recompute_fp8_weight_in_bwd "
          "precompute_float8_dynamic_scale_for_fsdp scaling_type_grad_output "
          "scaling_type_input scaling_type_weight"},
         {"model", "hf_assets_path norm_type print_after_conversion tokenizer_path"},
         {"mx", "filter_fqns"},
         {"optimizer", "beta1 beta2 eps lr weight_decay"},
         {"parallelism", "context_parallel_load_balancer"},
         {"quantize.dense.float8", "filter_fqns precompute_float8_dynamic_scale_for_fsdp"},
         {"quantize.linear.float8", "filter_fqns precompute_float8_dynamic_scale_for_fsdp"},
         {"quantize.linear.mx", "filter_fqns mxfp8_dim1_cast_kernel_choice"},
         {"training",
          "classic_data_loader data_dir dataloader dataset dataset_path "
          "deterministic gc_debug gc_freq seed steps warmup_steps"}}),
    .unsaid = {
        {"fault_tolerance.enable", {"replicas are those of the file", ""}},
        {"float8.emulate", {"fp8 is the GPU's", ""}},
        {"optimizer.early_step_in_backward", {"the update runs behind the backward pass", ""}},
        {"parallelism.disable_loss_parallel", {"tensor ranks share the vocabulary", ""}},
        {"parallelism.enable_compiled_autograd", {"backward is PyTorch's", ""}},
        {"parallelism.module_fqns_per_model_part", {"layers are dealt out evenly", ""}},
        {"parallelism.pipeline_parallel_schedule_csv", {"the named schedule runs", ""}},
        {"parallelism.pipeline_parallel_split_points", {"layers are dealt out evenly", ""}},
        {"quantize.grouped_mm.float8.fqns", {"experts run in the precision of all layers", ""}},
        {"quantize.grouped_mm.mx.fqns", {"experts run in the precision of all layers", ""}},
        {"quantize.linear.float8.emulate", {"fp8 is the GPU's", ""}},
        {"quantize.moe.float8.fqns", {"experts run in the precision of all layers", ""}},
    }};

const std::vector<std::string> kTypes{"bfloat16", "float32"};

/// Converters of all versions (torchtitan/components/quantization); a module that the file imports
/// may have others.
const std::vector<std::string> kConverters{
    "float8",
    "mx",
    "quantize.dense.float8",
    "quantize.grouped_mm.float8",
    "quantize.grouped_mm.mx",
    "quantize.linear.float8",
    "quantize.linear.mx",
    "quantize.moe.float8",
};

class TorchtitanImport {
 public:
  explicit TorchtitanImport(const ImportOptions& options)
      : options_(options),
        draft_(fmt::format("torchtitan's {}, read by stepsim import torchtitan.", options.file)),
        config_(source_of(options), "a torchtitan configuration") {}

  Draft write() {
    const std::string model = this->model();
    const std::optional<Transformer> shape = shape_of_model(model);
    is_plain_ = shape && !shape->experts && !shape->mla;
    has_latent_attention_ = shape && shape->mla;
    read_split();
    draft_.line(fmt::format("framework: {}", replicas_alone() ? "pytorch-ddp" : "pytorch-fsdp2"));
    draft_.line("model: " + (options_.model ? written_name(model, options_) : model));
    draft_.line("cluster: " + cluster_text(machine_));
    write_training();
    write_parallelism(shape);
    config_.note_the_rest(kKnown, draft_);
    config_.problems().throw_if_any();
    return std::move(draft_);
  }

 private:
  std::string model() {
    std::string name = config_.text("model.name", "llama3");
    const std::string flavor = config_.text("model.flavor", "debugmodel");
    if (options_.model) return *options_.model;
    const std::optional<std::string> known = torchtitan_model(name, flavor);
    if (known && !known->empty()) return *known;
    if (known) {
      config_.report("model.flavor",
                     fmt::format("{} {} has dense layers between those with experts, which cannot "
                                 "be imported: name another model with --model NAME",
                                 name, flavor));
      config_.problems().throw_if_any();
    }
    const std::vector<std::string> flavors = torchtitan_flavors(name);
    const std::string near =
        flavors.empty() ? did_you_mean(name, torchtitan_names()) : did_you_mean(flavor, flavors);
    config_.report(flavors.empty() ? "model.name" : "model.flavor",
                   fmt::format("the sizes of {} {} are not known here: name the model with --model "
                               "NAME",
                               name, flavor),
                   near);
    config_.problems().throw_if_any();
    return name;
  }

  /// A degree, which stood in other sections before.
  std::int64_t degree(const std::string& key) {
    const std::string path =
        config_.first_of({"parallelism." + key, "experimental." + key, "training." + key});
    return config_.positive(path, 1);
  }

  void read_split() {
    tensor_ = degree("tensor_parallel_degree");
    stages_ = degree("pipeline_parallel_degree");
    context_ = degree("context_parallel_degree");
    expert_ = degree("expert_parallel_degree");
    replicas_ = degree("data_parallel_replicate_degree");
    const std::string shards =
        config_.first_of({"parallelism.data_parallel_shard_degree",
                          "training.data_parallel_shard_degree", "training.data_parallel_degree"});
    const double stated = config_.number(shards).value_or(-1);
    shards_ = stated > 0 ? config_.count(shards, 1) : 0;
    config_.problems().throw_if_any();
    const int replica = product_of({tensor_, stages_, context_, replicas_});
    machine_ = machine_for(options_,
                           {.gpus = product_of({replica, shards_}),
                            .needed = std::max(replica, product_of({stages_, expert_})),
                            .why = "the product of all degrees, on full nodes"},
                           draft_);
    if (shards_ == 0) shards_ = std::max<std::int64_t>(machine_.gpus() / replica, 1);
  }

  std::int64_t data() const { return replicas_ * shards_; }
  /// Replicas that share nothing are DistributedDataParallel's (torchtitan/models/llama3/infra).
  bool replicas_alone() const { return replicas_ > 1 && shards_ * context_ == 1; }

  /// With a pipeline a local batch is cut into micro-batches; without one it is a micro-batch.
  std::int64_t micro_batch(std::int64_t local) {
    const std::string size = config_.first_of({"parallelism.pipeline_parallel_microbatch_size"});
    const std::string count = config_.first_of({"experimental.pipeline_parallel_microbatches",
                                                "parallelism.pipeline_parallel_microbatches"});
    if (stages_ == 1) return local;
    const std::int64_t counted = config_.positive(count, 0);
    return counted > 0 ? std::max<std::int64_t>(local / counted, 1) : config_.positive(size, 1);
  }

  void write_training() {
    const std::int64_t local =
        config_.positive(config_.first_of({"training.local_batch_size", "training.batch_size"}), 8);
    const double global = config_.number("training.global_batch_size").value_or(-1);
    const std::int64_t batch =
        global > 0 ? config_.count("training.global_batch_size") : local * data();
    note_bubbles(local, batch);
    sequence_ = config_.positive("training.seq_len", 2048);
    Entries e{fmt::format("sequence_length: {}", sequence_), fmt::format("global_batch: {}", batch),
              fmt::format("micro_batch: {}", micro_batch(local))};
    add_precision(e);
    add_optimizer(e);
    e.push_back(fmt::format("gradient_clipping: {}",
                            config_.number("training.max_norm").value_or(1.0) > 0));
    e.push_back("recompute: " + recompute());
    e.push_back(fmt::format("fusion: {}", is_compiled() ? "compiled" : "none"));
    e.push_back("attention: " + torch_attention(machine_.cluster.gpu));
    if (!has_latent_attention_) e.emplace_back("fused_qkv: false");
    e.emplace_back("vocabulary_multiple: 1");
    e.push_back(fmt::format("cross_entropy: {}", tensor_ > 1 ? "megatron" : "torch"));
    add_loss_chunks(e);
    draft_.map("training", e);
  }

  /// Chunks of the sequence, of each of its samples at once
  /// (torchtitan/components/loss.py, ChunkedLossWrapper).
  void add_loss_chunks(Entries& e) {
    const std::int64_t stated = config_.positive("loss.num_chunks", 1);
    const std::int64_t tokens = std::max<std::int64_t>(sequence_ / context_, 1);
    std::int64_t chunks = std::min(stated, tokens);
    while (tokens % chunks != 0) --chunks;
    if (chunks != stated && tensor_ == 1)
      draft_.note(fmt::format("loss.num_chunks {}", stated),
                  fmt::format("{} chunks, which have equally many of {} tokens", chunks, tokens));
    if (chunks > 1 && tensor_ == 1) e.push_back(fmt::format("loss_chunks: {}", chunks));
    if (chunks > 1 && tensor_ > 1)
      draft_.note(fmt::format("loss.num_chunks {}", chunks),
                  "the loss has all logits of a pass, which tensor ranks share");
  }

  bool is_compiled() {
    const bool on = config_.is_on(config_.first_of({"compile.enable", "training.compile"}));
    const std::vector<std::string> parts = config_.list("compile.components");
    return on && (parts.empty() || std::ranges::find(parts, "model") != parts.end());
  }

  /// Rows and tensors have scales of their own in float8; mx has one for each 32 elements.
  void add_precision(Entries& e) {
    const std::vector<std::string> converters = config_.list("model.converters");
    if (!config_.has("experimental.custom_import"))
      config_.check_words("model.converters", kConverters);
    const auto converts = [&](std::string_view to) {
      return std::ranges::any_of(
          converters, [&](const std::string& name) { return name.find(to) != std::string::npos; });
    };
    const bool was_float8 = config_.is_on(
        config_.first_of({"float8.enable_float8_linear", "training.enable_fp8_linear"}));
    const std::string param = config_.choice("training.mixed_precision_param", kTypes, "bfloat16");
    const std::string reduce = config_.choice("training.mixed_precision_reduce", kTypes, "float32");
    const bool float8 = was_float8 || converts("float8");
    const bool mx = converts("mx");
    // Matrix products of fp32 run in TF32: torch.set_float32_matmul_precision("high") in train.py.
    e.push_back(fmt::format("precision: {}", float8 || mx         ? "fp8"
                                             : param == "float32" ? "tf32"
                                                                  : "bf16"));
    if (float8 || mx) e.push_back(fmt::format("fp8_scaling: {}", mx ? "mxfp8" : "current"));
    read_float8(e, float8);
    e.push_back(fmt::format("gradients: {}", reduce == "float32" ? "fp32" : "bf16"));
    if (config_.choice("training.dtype", kTypes, "float32") == "bfloat16")
      return e.emplace_back("master_weights: false"), void();
    if (param == "float32") return;
    // FSDP casts its shards; one rank and replicas run under autocast (maybe_enable_amp of
    // torchtitan/distributed/utils.py).
    if (shards_ * context_ > 1) e.emplace_back("parameters: fp32");
    if (shards_ * context_ == 1 && !float8 && !mx) add_autocast(e, reduce);
  }

  void add_autocast(Entries& e, const std::string& reduce) {
    e.emplace_back("autocast: true");
    if (reduce == "float32") return;
    std::ranges::replace(e, std::string("gradients: bf16"), std::string("gradients: fp32"));
    draft_.note("training.mixed_precision_reduce " + reduce,
                "gradients have the type of their parameters, fp32, without FSDP");
  }

  void read_float8(Entries& e, bool is_used) {
    const std::string recipe = config_.choice(
        config_.first_of({"quantize.linear.float8.recipe_name", "quantize.dense.float8.recipe_name",
                          "float8.recipe_name"}),
        {"tensorwise", "rowwise", "rowwise_with_gw_hp"}, "tensorwise");
    config_.text(config_.first_of({"quantize.linear.mx.recipe_name", "mx.recipe_name"}));
    const bool gathers =
        config_.is_on(config_.first_of({"quantize.linear.float8.enable_fsdp_float8_all_gather",
                                        "quantize.dense.float8.enable_fsdp_float8_all_gather",
                                        "float8.enable_fsdp_float8_all_gather"}));
    if (!is_used) return;
    if (recipe != "tensorwise")
      draft_.note("float8 recipe_name " + recipe, "each tensor has one scale");
    if (gathers && stages_ == 1 && shards_ * context_ > 1) e.emplace_back("fp8_parameters: true");
  }

  void add_optimizer(Entries& e) {
    const std::string name = config_.text("optimizer.name", "AdamW");
    if (name != "AdamW" && name != "Adam") draft_.note("optimizer.name " + name, "AdamW");
    e.emplace_back("optimizer: adam");
    const bool was_fused = config_.is_on("optimizer.fused", true);
    const std::string kernels = config_.choice(
        "optimizer.implementation", {"for-loop", "foreach", "fused", "fused_opt_states_bf16"},
        was_fused ? "fused" : "foreach");
    e.push_back(fmt::format("optimizer_kernels: {}", kernels == "for-loop"  ? "per_tensor"
                                                     : kernels == "foreach" ? "foreach"
                                                                            : "fused"));
  }

  /// Where a repeated pass ends has been an option since v0.2.0; PyTorch's own default, true, held
  /// before.
  std::string recompute() {
    const bool early_stop = config_.is_on("activation_checkpoint.early_stop");
    std::string full = fmt::format("{{kind: full, early_stop: {}}}", early_stop);
    const std::string mode = config_.choice(
        "activation_checkpoint.mode", {"selective", "full", "memory_budget", "none"}, "selective");
    const std::string every = config_.text("activation_checkpoint.selective_ac_option", "2");
    config_.number("activation_checkpoint.memory_budget");
    if (mode == "none") return "none";
    if (mode == "full") return full;
    if (mode != "selective")
      draft_.note("activation_checkpoint.mode " + mode, "every second matrix product is repeated");
    else if (every == "1")
      return full;
    else if (every != "op")
      draft_.note("activation_checkpoint.selective_ac_option " + every,
                  "every second matrix product is repeated, not every layer of so many");
    return "{kind: selective, modules: [" + repeated_modules() + "]}";
  }

  /// Every second matrix product, which stepsim knows in layers of seven of them; elsewhere the
  /// modules that hold such products.
  std::string repeated_modules() {
    if (is_plain_) return "every_second_matmul";
    draft_.note(
        "recompute of every second matrix product",
        "norms, experts' activations and what latent attention is expanded to are repeated");
    return has_latent_attention_ ? "layernorm, mla_up_proj, moe_act" : "layernorm, moe_act";
  }

  void write_parallelism(const std::optional<Transformer>& shape) {
    draft_.line("parallelism:");
    draft_.line(fmt::format("  tensor: {}", tensor_));
    if (tensor_ > 1) {
      draft_.line("  sequence: true");
      draft_.line("  dtensor: true");
    }
    const bool asks = config_.is_on(config_.first_of({"parallelism.enable_async_tensor_parallel",
                                                      "experimental.enable_async_tensor_parallel",
                                                      "training.enable_async_tensor_parallel"}));
    // It is a pass of the compiler.
    if (asks && tensor_ > 1 && is_compiled()) {
      draft_.line("  split_products: async_tp");
    } else if (asks && tensor_ > 1) {
      draft_.note("parallelism.enable_async_tensor_parallel",
                  "products are not split, for that takes compile.enable");
    }
    const std::string rotates =
        config_.choice(config_.first_of({"parallelism.context_parallel_rotate_method",
                                         "experimental.context_parallel_rotate_method"}),
                       {"allgather", "alltoall"}, "allgather");
    if (context_ > 1)
      draft_.map("  context",
                 {fmt::format("degree: {}", context_), "kind: " + context_kind(rotates)});
    write_experts();
    if (stages_ > 1)
      write_torchtitan_pipeline(config_, shape ? shape->layers : 0, stages_, draft_);
    else
      pass_over_torchtitan_pipeline(config_);
    write_data();
  }

  void write_experts() {
    const std::string backend = config_.choice("parallelism.expert_parallel_comm_backend",
                                               {"standard", "deepep", "hybridep"}, "standard");
    const std::int64_t tensor =
        config_.positive(config_.first_of({"parallelism.expert_tensor_parallel_degree"}), 1);
    if (expert_ == 1) return;
    Entries e{fmt::format("degree: {}", expert_)};
    if (tensor != tensor_) e.push_back(fmt::format("tensor: {}", tensor));
    if (backend == "deepep") e.emplace_back("dispatcher: deepep");
    if (backend == "hybridep") e.emplace_back("dispatcher: hybrid_ep");
    draft_.map("  expert", e);
  }

  /// Beside pipeline stages FSDP keeps parameters gathered through the step, and reduces after the
  /// last backward pass (pytorch/pytorch torch/distributed/pipelining/stage.py).
  void write_data() {
    const std::string reshard = config_.choice("parallelism.fsdp_reshard_after_forward",
                                               {"default", "always", "never"}, "default");
    const bool offloads = config_.is_on(
        config_.first_of({"training.enable_cpu_offload", "experimental.enable_cpu_offload"}));
    const bool shares = shards_ * context_ > 1;
    Entries e;
    if (!shares) {
      e.emplace_back("sharding: ddp");
    } else if (stages_ > 1) {
      e.insert(e.end(), {"sharding: zero3", "no_sync: true"});
      if (reshard == "always") {
        e.emplace_back("reshard_after_forward: all");
      } else {
        e.insert(e.end(), {"reshard_after_forward: none", "reshard_after_backward: false"});
      }
    } else {
      e.emplace_back("sharding: zero3");
      if (reshard == "never") e.emplace_back("reshard_after_forward: none");
      if (reshard == "always") e.emplace_back("reshard_after_forward: all");
    }
    // The bucket that torchtitan gives to replicate()
    // (torchtitan/models/llama3/infra/parallelize.py).
    if (replicas_alone()) e.emplace_back("bucket: 100 MiB");
    if (shares && replicas_ > 1) share_among(e);
    if (offloads) {
      e.emplace_back("offload_optimizer: true");
      draft_.note("enable_cpu_offload", "parameters stay on the GPU");
    }
    draft_.map("  data", e);
  }

  /// Ranks of a context hold shards, too (the fsdp mesh of
  /// torchtitan/distributed/parallel_dims.py), which in a scenario are cut over data-parallel ranks
  /// times context.
  void share_among(Entries& e) {
    if (shards_ > 1) return e.push_back(fmt::format("shard_degree: {}", shards_));
    draft_.note(
        fmt::format("data_parallel_shard_degree 1 with {} replicas", replicas_),
        fmt::format("parameters are sharded over all {} ranks, not over the {} of a context",
                    replicas_ * context_, context_));
  }

  /// Each step of accumulation is a schedule of its own (forward_backward_step of
  /// torchtitan/train.py): the pipeline runs empty between them.
  void note_bubbles(std::int64_t local, std::int64_t global) {
    const std::int64_t steps = global / std::max<std::int64_t>(local * data(), 1);
    const std::int64_t passes = local / std::max<std::int64_t>(micro_batch(local), 1);
    if (stages_ == 1 || steps <= 1 || passes < 1) return;
    draft_.note(
        fmt::format("{} steps of accumulation, each a schedule of {} micro-batches", steps, passes),
        fmt::format("one schedule of {}: {} fillings of the pipeline, each of {} passes of "
                    "a stage, are left out",
                    steps * passes, steps - 1, stages_ - 1));
  }

  const ImportOptions& options_;
  Draft draft_;
  Config config_;
  std::int64_t tensor_ = 1, stages_ = 1, context_ = 1, expert_ = 1, replicas_ = 1, shards_ = 1;
  std::int64_t sequence_ = 0;
  bool is_plain_ = true, has_latent_attention_ = false;
  Machine machine_;
};

Draft import_torchtitan(const ImportOptions& options) { return TorchtitanImport(options).write(); }

bool is_torchtitan(const std::string&, const std::string& text) {
  const auto has = [&](const char* section) { return text.find(section) != std::string::npos; };
  return has("[model]") && has("[training]") &&
         (has("[job]") || has("[parallelism]") || has("flavor"));
}

const Registered<Importer> registered{{.name = "torchtitan",
                                       .description = "a torchtitan configuration (TOML)",
                                       .options = {"--cluster", "--nodes", "--model", "--format"},
                                       .recognises = is_torchtitan,
                                       .scenario = import_torchtitan}};

}  // namespace
}  // namespace stepsim
