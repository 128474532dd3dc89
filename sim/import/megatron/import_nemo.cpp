// A configuration of NeMo or Megatron-Bridge as Megatron-LM's options, and these as a scenario.
//
// Both set fields of Megatron Core by their own names: NVIDIA-NeMo/Megatron-Bridge
// scripts/translate_mlm_to_bridge.py has the table of options and fields, and NVIDIA/NeMo
// examples/nlp/language_modeling/conf/megatron_gpt_config.yaml the older names.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/words.hpp"
#include "sim/import/config/config.hpp"
#include "sim/import/config/model_shape.hpp"
#include "sim/import/config/packed_documents.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/machine.hpp"
#include "sim/import/megatron/megatron.hpp"
#include "sim/import/written_name.hpp"

namespace stepsim {
namespace {

/// Fields that take a value, in NeMo's and in Megatron-Bridge's words. Each stands for the option
/// of its own name, or for the one behind "=".
constexpr std::string_view kValues =
    "dataset.seq_length dataset.sequence_length=seq-length ddp.bucket_size=ddp-bucket-size "
    "ddp.data_parallel_sharding_strategy ddp.num_distributed_optimizer_instances "
    "mixed_precision.fp4=fp4-format mixed_precision.fp4_recipe "
    "mixed_precision.fp8=fp8-format mixed_precision.fp8_recipe "
    "mixed_precision.num_layers_at_end_in_bf16 mixed_precision.num_layers_at_start_in_bf16 "
    "model.num_layers_at_end_in_bf16 model.num_layers_at_start_in_bf16 "
    "model.activations_checkpoint_granularity=recompute-granularity "
    "model.activations_checkpoint_method=recompute-method "
    "model.activations_checkpoint_num_layers=recompute-num-layers model.attention_dropout "
    "model.context_parallel_size model.cp_comm_type model.encoder_seq_length=seq-length "
    "model.expert_model_parallel_size model.expert_tensor_parallel_size model.ffn_hidden_size "
    "model.global_batch_size model.hidden_dropout model.hidden_size model.kv_channels "
    "model.kv_lora_rank model.make_vocab_size_divisible_by model.max_position_embeddings "
    "model.micro_batch_size model.moe_expert_capacity_factor model.moe_ffn_hidden_size "
    "model.moe_flex_dispatcher_backend model.moe_router_topk "
    "model.moe_shared_expert_intermediate_size model.moe_token_dispatcher_type "
    "model.mtp_num_layers model.num_attention_heads model.num_layers "
    "model.num_layers_in_first_pipeline_stage=decoder-first-pipeline-num-layers "
    "model.num_layers_in_last_pipeline_stage=decoder-last-pipeline-num-layers "
    "model.num_moe_experts=num-experts model.pipeline_model_parallel_layout "
    "model.pipeline_model_parallel_size model.position_embedding_type model.q_lora_rank "
    "model.qk_head_dim model.qk_pos_emb_head_dim model.recompute_granularity "
    "model.recompute_method model.recompute_modules model.recompute_num_layers "
    "model.rotary_scaling_factor model.yarn_rotary_scaling_factor=rotary-scaling-factor "
    "model.seq_length "
    "model.tensor_model_parallel_size model.v_head_dim "
    "model.virtual_pipeline_model_parallel_size=num-virtual-stages-per-pipeline-rank "
    "model.vocab_size optimizer.clip_grad tokenizer.vocab_size train.global_batch_size "
    "train.micro_batch_size trainer.gradient_clip_val=clip-grad";

/// Switches that stand for an option where they are on, and those that do where they are off.
constexpr std::string_view kOptionsIfOn =
    "comm_overlap.delay_wgrad_compute comm_overlap.overlap_moe_expert_parallel_comm "
    "comm_overlap.tp_comm_overlap "
    "ddp.average_in_collective=ddp-average-in-collective "
    "ddp.grad_reduce_in_fp32=accumulate-allreduce-grads-in-fp32 ddp.overlap_grad_reduce "
    "ddp.overlap_param_gather ddp.use_distributed_optimizer ddp.use_megatron_fsdp "
    "dist.use_megatron_fsdp dist.use_torch_fsdp2 dist.use_tp_pp_dp_mapping mixed_precision.bf16 "
    "mixed_precision.first_last_layers_bf16 model.first_last_layers_bf16 "
    "mixed_precision.fp16 mixed_precision.fp4_param_gather mixed_precision.fp8_param_gather "
    "model.account_for_embedding_in_pipeline_split model.account_for_loss_in_pipeline_split "
    "model.add_qkv_bias model.gated_linear_unit=swiglu model.moe_enable_deepep "
    "model.moe_grouped_gemm model.moe_pad_expert_input_to_capacity model.moe_permute_fusion "
    "model.moe_router_fusion model.moe_router_padding_for_quantization "
    "model.moe_router_padding_for_fp8 model.moe_use_grouped_tensor "
    "model.moe_shared_expert_overlap model.multi_latent_attention "
    "model.overlap_moe_expert_parallel_comm model.qk_layernorm model.sequence_parallel "
    "model.tp_comm_overlap model.ub_tp_comm_overlap=tp-comm-overlap";
constexpr std::string_view kOptionsIfOff =
    "ddp.check_for_nan_in_grad=no-check-for-nan-in-loss-and-grad "
    "mixed_precision.grad_reduce_in_fp32=grad-reduce-in-bf16 "
    "model.add_bias_linear=disable-bias-linear model.bias=disable-bias-linear "
    "model.bias_dropout_add_fusion=no-bias-dropout-fusion "
    "model.bias_dropout_fusion=no-bias-dropout-fusion model.apply_rope_fusion=no-rope-fusion "
    "model.share_embeddings_and_output_weights=untie-embeddings-and-output-weights";

/// Recipes by a part of their names, the first that fits: how fp8 is scaled, whether parameters are
/// gathered in it, and how many layers at each end stay in bf16 (NVIDIA-NeMo/Megatron-Bridge
/// src/megatron/bridge/training/mixed_precision.py).
struct NamedRecipe {
  std::string_view part, scaling;
  bool gathers = false;
  int first = 0, last = 0;
};
constexpr NamedRecipe kNamedRecipes[] = {
    {"nanov2_bf16_with_fp8_current_scaling", "blockwise", true, 2, 2},
    {"nemotron_h_bf16_with_fp8_current_scaling", "tensorwise", true, 2, 2},
    {"fp8_current_scaling", "tensorwise", true, 1, 1},
    {"fp8_subchannel_scaling", "blockwise"},
    {"with_mxfp8", "mxfp8", true},
    {"nemotron_3_super_bf16_with_nvfp4", "", false, 0, 14},
};

struct OptionField {
  std::string field, option;
};

/// The field and the option of a word of these lists.
OptionField option_field(std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::size_t before = equals == std::string_view::npos ? word.rfind('.') : equals;
  std::string option(word.substr(before + 1));
  std::ranges::replace(option, '_', '-');
  return {std::string(word.substr(0, equals)), option};
}

const KnownKeys kKnown{.harmless = {},
                       .unsaid = {{"model.cpu_offloading", {"activations stay on the GPU", ""}},
                                  {"model.sharp", {"reductions are NCCL's own choice", ""}},
                                  {"peft", {"all weights are trained", ""}}},
                       .has_many_more = true};

class NemoImport {
 public:
  explicit NemoImport(const ImportOptions& options)
      : options_(options),
        config_(unwrapped(Config(options.file, "a configuration of NeMo or Megatron-Bridge"),
                          has_matrix_),
                "") {}

  Draft draft() {
    add_options();
    for (const std::string_view word : words_of(kValues)) add_value(option_field(word));
    for (const std::string_view word : words_of(kOptionsIfOn)) add_switch(option_field(word), true);
    for (const std::string_view word : words_of(kOptionsIfOff))
      add_switch(option_field(word), false);
    add_precision();
    add_model();
    add_optimizer();
    add_alignment();
    const bool is_whole = said_.contains("num-layers");
    // Recipes of Megatron-Bridge train in bf16_mixed unless they say otherwise.
    const bool says_type = said_.contains("bf16") || said_.contains("fp16");
    if (!is_whole && !says_type) add("bf16", {}, config_.tree().place);
    if (options_.model) replace_model();
    check_the_least();
    LaunchedGpus gpus;
    gpus.nodes = product_of({config_.count("trainer.num_nodes")});
    gpus.gpus_per_node = devices();
    const bool is_packed = packs();
    config_.problems().throw_if_any();
    Draft draft = draft_of_megatron(
        {.title = fmt::format("NeMo's {}, read by stepsim import nemo.", options_.file),
         .words = std::move(words_),
         .gpus = gpus,
         .model = options_.model ? written_name(*options_.model, options_) : ""},
        options_);
    if (!is_whole)
      draft.assume({"what the recipe sets",
                    says_type ? "Megatron Core's defaults" : "Megatron Core's defaults, in bf16",
                    "the file changes a recipe, which is not known here",
                    "the whole configuration, as Megatron-Bridge prints it"});
    if (is_packed) assume_whole_documents("packed sequences", draft);
    if (has_matrix_) draft.note("perf_matrix", "none of its splits and batches is taken");
    config_.note_the_rest(kKnown, draft);
    return draft;
  }

 private:
  /// Megatron-Bridge's files for its benchmarks have all below one key.
  static JsonTree unwrapped(const Config& config, bool& has_matrix) {
    const JsonTree* inner = config.tree().find("ConfigContainer");
    has_matrix = config.tree().find("perf_matrix") != nullptr;
    return inner == nullptr ? config.tree() : *inner;
  }

  /// Says nothing: "${model.seq_length}" is worked out by OmegaConf, "???" has to be stated.
  static bool is_open(const JsonTree& value) {
    return value.text.starts_with("${") || value.text == "???";
  }

  /// Offline or in each batch, by names of several releases (src/megatron/bridge/data).
  bool packs() {
    bool any = config_.is_on("dataset.enable_in_batch_packing");
    any |= config_.is_on("model.data.train_ds.packed_sequence");
    for (const char* size : {"dataset.offline_packing_specs.packed_sequence_size",
                             "dataset.packed_sequence_specs.packed_sequence_size"})
      any |= config_.number(size).value_or(0) > 0;
    return any;
  }

  void add(const std::string& option, const std::vector<std::string>& values, const Place& place) {
    if (!said_.insert(option).second) return;
    words_.push_back({"--" + option, place});
    for (const std::string& value : values) words_.push_back({value, place});
  }

  void add_value(const OptionField& known) {
    const JsonTree* value = config_.find(known.field);
    if (value == nullptr || is_open(*value)) return;
    if (value->is(JsonTree::Kind::flag) && value->text != "true") return;
    add(known.option, config_.list(known.field), value->place);
  }

  void add_switch(const OptionField& known, bool wanted) {
    const JsonTree* value = config_.find(known.field);
    if (value != nullptr && !is_open(*value) && switch_of(*value) == wanted)
      add(known.option, {}, value->place);
  }

  /// "bf16-mixed" of Lightning, "bf16_with_fp8_..." of Megatron-Bridge's recipes by name.
  void add_precision() {
    std::string stated = config_.text("trainer.precision");
    const JsonTree* mixed = config_.find("mixed_precision");
    if (mixed != nullptr && mixed->is(JsonTree::Kind::text)) stated = mixed->text;
    const Place& place = config_.tree().place;
    if (stated.find("bf16") != std::string::npos) add("bf16", {}, place);
    if (stated.starts_with("16") || stated.starts_with("fp16")) add("fp16", {}, place);
    const bool fp8 = stated.find("fp8") != std::string::npos || config_.is_on("model.fp8_hybrid");
    const JsonTree* switched = config_.find("model.fp8");
    const bool on = switched != nullptr && !is_open(*switched) && switch_of(*switched) != false;
    if (fp8 || on) add("fp8-format", {"hybrid"}, place);
    if (stated.find("nvfp4") != std::string::npos) {
      add("fp4-format", {"e2m1"}, place);
      // The preset gathers in fp4 what a distributed optimizer gathers.
      if (is_distributed()) add("fp4-param-gather", {}, place);
    }
    add_recipe(stated);
  }

  /// What a recipe of Megatron-Bridge says by its name, of scales and of layers in bf16.
  void add_recipe(const std::string& name) {
    const auto recipe = std::ranges::find_if(kNamedRecipes, [&](const NamedRecipe& each) {
      return name.find(each.part) != std::string::npos;
    });
    if (recipe == std::end(kNamedRecipes)) return;
    const Place& place = config_.tree().place;
    if (!recipe->scaling.empty()) add("fp8-recipe", {std::string(recipe->scaling)}, place);
    // A recipe gathers in fp8 what a distributed optimizer gathers.
    if (recipe->gathers && is_distributed()) add("fp8-param-gather", {}, place);
    if (recipe->first + recipe->last == 0) return;
    add("first-last-layers-bf16", {}, place);
    add("num-layers-at-start-in-bf16", {std::to_string(recipe->first)}, place);
    add("num-layers-at-end-in-bf16", {std::to_string(recipe->last)}, place);
  }

  /// What an option of the import states.
  void add_options() {
    const auto state = [&](const char* option, std::int64_t value) {
      if (value > 0) add(option, {std::to_string(value)}, {});
    };
    state("micro-batch-size", options_.micro_batch);
    state("global-batch-size", options_.global_batch);
    state("seq-length", options_.sequence_length.value_or(0));
  }

  void add_model() {
    const std::string activation = config_.text("model.activation");
    if (activation.find("glu") != std::string::npos)
      add("swiglu", {}, config_.find("model.activation")->place);
    const JsonTree* groups = config_.find("model.num_query_groups");
    if (groups != nullptr && !is_open(*groups)) {
      add("group-query-attention", {}, groups->place);
      add("num-query-groups", {groups->text}, groups->place);
    }
    const std::string norm = in_lower_case(config_.text("model.normalization"));
    if (norm.find("rms") != std::string::npos)
      add("normalization", {"RMSNorm"}, config_.find("model.normalization")->place);
    // A number, or one of 0 and 1 a layer.
    const JsonTree* frequency = config_.find("model.moe_layer_freq");
    if (frequency == nullptr) return;
    const std::vector<std::string> layers = config_.list("model.moe_layer_freq");
    const bool is_list = frequency->is(JsonTree::Kind::list);
    add("moe-layer-freq", {is_list ? fmt::format("[{}]", fmt::join(layers, ",")) : layers.front()},
        frequency->place);
  }

  /// NeMo's optimizer by its name ("distributed_fused_adam"), or the switch of Megatron-Bridge.
  bool is_named_distributed() {
    return config_.text("model.optim.name").find("distributed") != std::string::npos;
  }
  bool is_distributed() {
    return is_named_distributed() || config_.is_on("ddp.use_distributed_optimizer");
  }

  void add_optimizer() {
    const Place& place = config_.tree().place;
    if (is_named_distributed()) add("use-distributed-optimizer", {}, place);
    if (config_.is_on("model.optim.overlap_grad_sync")) add("overlap-grad-reduce", {}, place);
    if (config_.is_on("model.optim.overlap_param_sync")) add("overlap-param-gather", {}, place);
  }

  /// Megatron-LM's parser aligns gathers unless it is told not to. The field is false unless stated
  /// (megatron/core/distributed/distributed_data_parallel_config.py), and true beside comm_overlap
  /// (Megatron-Bridge src/megatron/bridge/training/comm_overlap.py).
  void add_alignment() {
    const JsonTree* value = config_.find(
        config_.first_of({"comm_overlap.align_param_gather", "ddp.align_param_gather"}));
    const bool preset = config_.has("comm_overlap");
    const bool says = value != nullptr && !is_open(*value);
    if (!(says ? switch_of(*value).value_or(preset) : preset))
      add("no-align-param-gather", {}, config_.tree().place);
  }

  /// A model that is named has its own sizes; whether it has experts decides how they are split.
  void replace_model() {
    static const std::set<std::string, std::less<>> kSizes{"add-qkv-bias",
                                                           "attention-dropout",
                                                           "disable-bias-linear",
                                                           "ffn-hidden-size",
                                                           "group-query-attention",
                                                           "hidden-dropout",
                                                           "hidden-size",
                                                           "kv-channels",
                                                           "kv-lora-rank",
                                                           "max-position-embeddings",
                                                           "moe-ffn-hidden-size",
                                                           "moe-grouped-gemm",
                                                           "moe-layer-freq",
                                                           "moe-router-topk",
                                                           "moe-shared-expert-intermediate-size",
                                                           "multi-latent-attention",
                                                           "normalization",
                                                           "num-attention-heads",
                                                           "num-experts",
                                                           "num-layers",
                                                           "num-query-groups",
                                                           "position-embedding-type",
                                                           "q-lora-rank",
                                                           "qk-head-dim",
                                                           "qk-layernorm",
                                                           "qk-pos-emb-head-dim",
                                                           "swiglu",
                                                           "untie-embeddings-and-output-weights",
                                                           "v-head-dim",
                                                           "vocab-size"};
    std::vector<PlacedWord> kept;
    bool keeps = true;
    for (const PlacedWord& word : words_) {
      if (word.text.starts_with("--")) keeps = !kSizes.contains(word.text.substr(2));
      if (keeps) kept.push_back(word);
    }
    words_ = std::move(kept);
    const std::optional<Transformer> shape = shape_of_model(*options_.model);
    if (!shape) return;
    said_.erase("num-layers");
    said_.erase("num-experts");
    add("num-layers", {std::to_string(shape->layers)}, {});
    if (shape->experts) add("num-experts", {std::to_string(shape->experts->count)}, {});
  }

  int devices() {
    const JsonTree* stated = config_.find("trainer.devices");
    if (stated == nullptr || !stated->is(JsonTree::Kind::number)) return 0;
    return number_of(*stated) > 0 ? product_of({config_.count("trainer.devices")}) : 0;
  }

  /// Files that change a recipe do not say what it is.
  void check_the_least() {
    if (!said_.contains("num-layers"))
      config_.report("model",
                     "the model is a recipe's, which the file does not say: name it with --model "
                     "NAME");
    if (!said_.contains("micro-batch-size"))
      config_.report("train", "the file states no micro_batch_size: state it with --micro-batch N");
    if (!said_.contains("seq-length"))
      config_.report("model", "the file states no seq_length: state it with --sequence-length N");
  }

  const ImportOptions& options_;
  bool has_matrix_ = false;  ///< splits of several runs stand beside the configuration
  Config config_;
  std::vector<PlacedWord> words_;
  std::set<std::string, std::less<>> said_;
};

Draft import_nemo(const ImportOptions& options) { return NemoImport(options).draft(); }

bool is_nemo(const std::string&, const std::string& text) {
  return text.find("tensor_model_parallel_size:") != std::string::npos ||
         text.find("megatron.bridge.") != std::string::npos ||
         text.find("ConfigContainer:") != std::string::npos;
}

const Registered<Importer> registered{
    {.name = "nemo",
     .description = "a configuration of NeMo or Megatron-Bridge (YAML)",
     .options = {"--cluster", "--nodes", "--model", "--sequence-length", "--micro-batch",
                 "--global-batch", "--format"},
     .recognises = is_nemo,
     .scenario = import_nemo}};

}  // namespace
}  // namespace stepsim
