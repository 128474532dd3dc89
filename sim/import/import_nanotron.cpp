// A nanotron configuration as a scenario (huggingface/nanotron src/nanotron/config/config.py,
// models_config.py and parallelism_config.py).
//
// Data-parallel ranks are PyTorch's DistributedDataParallel; their gradients are reduced behind the
// last micro-batch, in fp32 where they are accumulated so.
#include <algorithm>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/words.hpp"
#include "sim/import/config/config.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/machine.hpp"
#include "sim/import/written_name.hpp"

namespace stepsim {
namespace {

const KnownKeys kKnown{
    .harmless = paths_of(
        {{"",
          "checkpoints data data_stages general lighteval logging metrics_logging "
          "profiler s3_upload tokenizer"},
         {"model", "init_method"},
         {"model.model_config",
          "_fused_rms_norm _fused_rotary_emb _use_qkv_packed activation_function "
          "attention_softmax_in_fp32 bos_token_id eos_token_id hidden_act "
          "initializer_range interleaved_rotary is_llama_config is_qwen2_config "
          "is_starcoder2_config layer_norm_epsilon log_attn_probs "
          "max_position_embeddings no_rope_layer pad_token_id pretraining_tp "
          "rms_norm_eps rope_interleaved rope_scaling "
          "rope_seq_len_interpolation_factor rope_theta "
          "scale_attention_softmax_in_fp32 scale_attn_weights use_cache "
          "use_rotary_embeddings z_loss_coefficient"},
         {"optimizer",
          "adam_beta1 adam_beta2 adam_eps learning_rate_scheduler weight_decay "
          "weight_decay_exclude_named_params"},
         {"optimizer.optimizer_factory", "adam_beta1 adam_beta2 adam_eps"},
         {"tokens", "limit_test_batches limit_val_batches train_steps val_check_interval"}}),
    .unsaid = {{"doremi", {"one model is trained, without a reference", ""}},
               {"model.model_config._use_doc_masking", {"tokens attend to all before them", ""}},
               {"model.model_config.flex_attention_mask", {"tokens attend to all before them", ""}},
               {"model.model_config.global_attn_layers", {"all layers attend to all tokens", ""}},
               {"model.model_config.sliding_window_size", {"tokens attend to all before them", ""}},
               {"model.model_config.z_loss_enabled", {"the loss is the cross entropy alone", ""}},
               {"parallelism.moe_layer_recompute", {"layers of experts are kept", ""}},
               {"parallelism.tp_recompute_allgather", {"gathered inputs are not kept", "true"}}}};

// intermediate_size of LlamaConfig and Qwen2Config, and the three dropouts of Starcoder2Config.
constexpr std::int64_t kFfn = 11008;
constexpr double kDropout = 0.1;

class NanotronImport {
 public:
  explicit NanotronImport(const ImportOptions& options)
      : options_(options),
        draft_(fmt::format("nanotron's {}, read by stepsim import nanotron.", options.file)),
        config_(options.file, "a nanotron configuration") {}

  Draft write() {
    read_split();
    draft_.line("framework: pytorch-ddp");
    write_model();
    draft_.line("cluster: " + cluster_text(machine_));
    write_training();
    write_parallelism();
    config_.note_the_rest(kKnown, draft_);
    config_.problems().throw_if_any();
    return std::move(draft_);
  }

 private:
  std::int64_t degree(const char* key) {
    return config_.positive(fmt::format("parallelism.{}", key), 1);
  }

  void read_split() {
    for (const char* key : {"parallelism", "model.model_config", "tokens"})
      if (!config_.has(key)) config_.report("", fmt::format("{} is missing", key));
    data_ = degree("dp");
    stages_ = degree("pp");
    tensor_ = degree("tp");
    context_ = degree("context_parallel_size");
    expert_ = degree("expert_parallel_size");
    config_.problems().throw_if_any();
    machine_ = machine_for(options_,
                           {.gpus = product_of({data_, stages_, tensor_, context_}),
                            .why = "dp x pp x tp x context_parallel_size, on full nodes"},
                           draft_);
  }

  std::string of_model(const char* key) { return fmt::format("model.model_config.{}", key); }
  std::int64_t required(const char* key) {
    if (!config_.has(of_model(key)))
      config_.report("model.model_config", of_model(key) + " is missing");
    return config_.positive(of_model(key), 1);
  }

  void write_model() {
    if (options_.model) return draft_.line("model: " + written_name(*options_.model, options_));
    const bool is_starcoder = config_.is_on(of_model("is_starcoder2_config"));
    if (!is_starcoder && !config_.is_on(of_model("is_llama_config")) &&
        !config_.is_on(of_model("is_qwen2_config")))
      config_.report("model.model_config",
                     "model.model_config is none of Llama's, Qwen2's and Starcoder2's: name the "
                     "model with --model NAME");
    config_.problems().throw_if_any();
    const std::int64_t hidden = required("hidden_size");
    const std::int64_t heads = required("num_attention_heads");
    Entries e{"name: nanotron",
              fmt::format("layers: {}", required("num_hidden_layers")),
              fmt::format("hidden: {}", hidden),
              fmt::format("heads: {}", heads),
              fmt::format("kv_heads: {}", kv_heads(is_starcoder, heads)),
              fmt::format("ffn: {}", config_.positive(of_model("intermediate_size"),
                                                      is_starcoder ? 4 * hidden : kFfn)),
              fmt::format("vocabulary: {}", required("vocab_size")),
              fmt::format("gated_mlp: {}", !is_starcoder),
              fmt::format("rms_norm: {}", !is_starcoder),
              fmt::format("bias: {}", is_starcoder),
              fmt::format("tied_embeddings: {}",
                          config_.is_on(of_model("tie_word_embeddings"), is_starcoder)),
              fmt::format("dropout: {}", has_dropout(is_starcoder))};
    if (!is_starcoder && config_.is_on(of_model("attention_bias")))
      e.emplace_back("qkv_bias: true");
    add_experts(e);
    draft_.map("model", e);
  }

  /// Starcoder2 has one head of keys and values unless it says that queries are grouped
  /// (Starcoder2Config of models_config.py).
  std::int64_t kv_heads(bool is_starcoder, std::int64_t heads) {
    const bool is_grouped = config_.is_on(of_model("grouped_query"));
    config_.is_on(of_model("multi_query"));
    const std::int64_t stated = config_.positive(
        config_.first_of({of_model("num_key_value_heads"), of_model("num_kv_heads")}), heads);
    return is_starcoder && !is_grouped ? 1 : stated;
  }

  /// Starcoder2 alone has such keys.
  bool has_dropout(bool is_starcoder) {
    bool any = false;
    for (const char* key : {"attn_pdrop", "embd_pdrop", "resid_pdrop"})
      any = config_.number(of_model(key)).value_or(is_starcoder ? kDropout : 0) > 0 || any;
    return any;
  }

  void add_experts(Entries& e) {
    const std::string moe = "model.model_config.moe_config.";
    const JsonTree* stated = config_.find("model.model_config.moe_config");
    if (stated == nullptr) return;
    if (!stated->is(JsonTree::Kind::map))
      return config_.refuse("model.model_config.moe_config", *stated, "a map");
    const bool shares = config_.is_on(moe + "enable_shared_expert");
    const std::int64_t shared = config_.positive(moe + "shared_expert_intermediate_size", 5632);
    e.push_back(
        fmt::format("experts: {{count: {}, top_k: {}, ffn: {}, shared_ffn: {}}}",
                    config_.positive(moe + "num_experts", 8), config_.positive(moe + "top_k", 2),
                    config_.positive(moe + "moe_intermediate_size", 1408), shares ? shared : 0));
    const std::vector<std::string> layers = config_.list(moe + "layers");
    if (!layers.empty() && layers != std::vector<std::string>{"-1"})
      draft_.note("moe_config.layers", "all layers have experts");
    config_.text(moe + "token_dispatcher_type");
    config_.text(moe + "router_aux_loss_coef");
  }

  std::string attention() {
    const std::string named = config_.choice(of_model("_attn_implementation"),
                                             {"flash_attention_2", "flex_attention", "sdpa",
                                              "ring_flash_triton", "ring", "llama3_ring_attention"},
                                             "flash_attention_2");
    if (named == "sdpa" || named.starts_with("flash") || named == "ring_flash_triton")
      return torch_attention(machine_.cluster.gpu);
    draft_.note("_attn_implementation " + named, torch_attention(machine_.cluster.gpu));
    return torch_attention(machine_.cluster.gpu);
  }

  void write_training() {
    const std::string type =
        config_.choice("model.dtype", {"bfloat16", "float16", "float32", "float64"}, "bfloat16");
    const std::int64_t micro = config_.positive("tokens.micro_batch_size", 1);
    const std::int64_t steps = config_.positive("tokens.batch_accumulation_per_replica", 1);
    const bool in_fp32 = config_.is_on("optimizer.accumulate_grad_in_fp32", true);
    if (type == "float64") draft_.note("model.dtype float64", "fp32");
    const std::string precision = type == "float16"           ? "fp16"
                                  : type.starts_with("float") ? "fp32"
                                                              : "bf16";
    Entries e{fmt::format("sequence_length: {}", config_.positive("tokens.sequence_length", 1)),
              fmt::format("global_batch: {}", micro * steps * data_),
              fmt::format("micro_batch: {}", micro), "precision: " + precision,
              fmt::format("gradients: {}", in_fp32 ? "fp32" : precision)};
    add_optimizer(e);
    e.push_back(fmt::format("gradient_clipping: {}",
                            config_.number("optimizer.clip_grad").value_or(0) > 0));
    if (config_.is_on("parallelism.recompute_layer")) e.emplace_back("recompute: full");
    e.push_back("attention: " + attention());
    e.push_back(fmt::format("vocabulary_multiple: {}",
                            config_.positive("model.make_vocab_size_divisible_by", 1)));
    draft_.map("training", e);
  }

  void add_optimizer(Entries& e) {
    const std::string name = config_.text("optimizer.optimizer_factory.name", "adamW");
    if (name != "adamW" && name != "sgd") draft_.note("optimizer " + name, "AdamW");
    e.push_back(fmt::format("optimizer: {}", name == "sgd" ? "sgd" : "adam"));
    const bool fused =
        config_.is_on(config_.first_of({"optimizer.optimizer_factory.torch_adam_is_fused",
                                        "optimizer.torch_adam_is_fused"}),
                      true);
    e.push_back(fmt::format("optimizer_kernels: {}", fused ? "fused" : "foreach"));
  }

  void write_parallelism() {
    draft_.line("parallelism:");
    const std::string mode = config_.choice("parallelism.tp_mode", {"ALL_REDUCE", "REDUCE_SCATTER"},
                                            "ALL_REDUCE", Config::Case::ignored);
    const bool hides = config_.is_on("parallelism.tp_linear_async_communication");
    draft_.line(fmt::format("  tensor: {}", tensor_));
    if (tensor_ > 1 && mode == "REDUCE_SCATTER") draft_.line("  sequence: true");
    if (tensor_ > 1) draft_.line(fmt::format("  overlap_tensor: {}", hides));
    if (context_ > 1) draft_.map("  context", {fmt::format("degree: {}", context_), "kind: ring"});
    if (expert_ > 1) draft_.map("  expert", {fmt::format("degree: {}", expert_)});
    const std::string engine = config_.choice("parallelism.pp_engine", {"afab", "1f1b"}, "afab");
    if (stages_ > 1)
      draft_.map("  pipeline", {fmt::format("stages: {}", stages_),
                                fmt::format("schedule: {}", engine == "afab" ? "gpipe" : "1f1b")});
    const std::int64_t stage = config_.count("optimizer.zero_stage");
    if (stage > 1) draft_.note(fmt::format("optimizer.zero_stage {}", stage), "ZeRO-1");
    Entries data{fmt::format("sharding: {}", stage > 0 ? "zero1" : "ddp"), "no_sync: true"};
    if (const std::int64_t cap = config_.count("model.ddp_bucket_cap_mb", 1); cap > 0)
      data.push_back(fmt::format("bucket: {} MiB", cap));
    draft_.map("  data", data);
  }

  const ImportOptions& options_;
  Draft draft_;
  Config config_;
  std::int64_t data_ = 1, stages_ = 1, tensor_ = 1, context_ = 1, expert_ = 1;
  Machine machine_;
};

Draft import_nanotron(const ImportOptions& options) { return NanotronImport(options).write(); }

bool is_nanotron(const std::string&, const std::string& text) {
  const auto has = [&](const char* key) { return has_line(text, key); };
  return has("parallelism:") && has("tokens:") && text.find("model_config:") != std::string::npos;
}

const Registered<Importer> registered{{.name = "nanotron",
                                       .description = "a nanotron configuration (YAML)",
                                       .options = {"--cluster", "--nodes", "--model", "--format"},
                                       .recognises = is_nanotron,
                                       .scenario = import_nanotron}};

}  // namespace
}  // namespace stepsim
