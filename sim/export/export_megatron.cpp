// A plan as Megatron-LM's command line (NVIDIA/Megatron-LM megatron/training/arguments.py, and the
// dataclasses of megatron/core that most options are made from; tried with core_v0.14.0 to
// core_v0.19.0 and d98e8a64d).
//
// Each option is the one that sim/import/megatron/import_megatron.cpp reads.
#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/export/checks.hpp"
#include "sim/export/exporter.hpp"
#include "sim/export/megatron_layers.hpp"
#include "sim/export/option_group.hpp"
#include "sim/export/stated_by_import.hpp"
#include "sim/scenario/describe/frameworks.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {
namespace {

/// An export, array by array.
class MegatronExport {
 public:
  explicit MegatronExport(const Scenario& scenario)
      : s_(scenario),
        t_(scenario.training),
        p_(scenario.parallelism),
        shape_(transformer_of(scenario, "pretrain_gpt.py trains transformers")) {
    if (shape_.diffusion)
      throw UserError(
          fmt::format("model {}: pretrain_gpt.py trains no diffusion models", scenario.model.name));
  }

  Exported write() {
    refuse_what_megatron_checks(s_);
    add_launch();
    add_model();
    add_heads();
    if (shape_.experts) add_experts();
    if (shape_.hybrid) add_hybrid(*shape_.hybrid);
    if (shape_.window && shape_.window->kind == WindowKind::sliding) add_window(*shape_.window);
    if (shape_.mtp_layers > 0) model_.value("--mtp-num-layers", shape_.mtp_layers);
    add_batch();
    add_precision();
    add_kernels();
    add_splits();
    if (p_.pipeline.stages > 1) add_pipeline();
    add_data();
    add_stand_ins();
    Exported exported{.text = script()};
    for (const OptionGroup* group : groups()) {
      const auto& words = group->words();
      exported.import.arguments.insert(exported.import.arguments.end(), words.begin(), words.end());
    }
    exported.import.from = "megatron";
    exported.import.cluster = cluster_option(s_.cluster);
    if (shape_.has_yarn())
      exported.notes.emplace_back(
          "--rotary-scaling-factor: Megatron-LM reads it beside yarn since core_v0.19.0");
    exported.notes.emplace_back(
        "samples: --mock-data and NullTokenizer, which has one entry more, stand in for yours");
    return exported;
  }

 private:
  std::vector<const OptionGroup*> groups() const {
    return {&launch_, &model_, &training_, &parallel_, &run_};
  }

  void add_launch() {
    launch_.value("--nnodes", s_.cluster.nodes);
    launch_.value("--nproc_per_node", s_.cluster.gpus_per_node);
  }

  void add_model() {
    model_.value("--num-layers", shape_.layers);
    model_.value("--hidden-size", shape_.hidden);
    model_.value("--ffn-hidden-size", shape_.ffn);
    model_.value("--num-attention-heads", shape_.heads);
    model_.value("--vocab-size", shape_.vocabulary);
    if (t_.vocabulary_multiple || p_.tensor == 1)
      model_.value("--make-vocab-size-divisible-by", t_.vocabulary_multiple.value_or(1));
    const bool has_none = shape_.hybrid && !shape_.hybrid->rotary;
    model_.value("--position-embedding-type", shape_.positions > 0 ? "learned_absolute"
                                              : has_none           ? "none"
                                              : shape_.has_yarn()  ? "yarn"
                                                                   : "rope");
    if (shape_.has_yarn()) model_.value("--rotary-scaling-factor", shape_.yarn_factor);
    model_.value("--max-position-embeddings",
                 shape_.positions > 0 ? shape_.positions : t_.sequence_length);
    model_.value("--normalization", shape_.rms_norm ? "RMSNorm" : "LayerNorm");
    const bool clamps = shape_.experts && shape_.experts->clamp > 0;
    model_.flag_if(shape_.gated_mlp && !clamps, "--swiglu");
    model_.flag_if(!shape_.bias, "--disable-bias-linear");
    model_.flag_if(!shape_.tied_embeddings, "--untie-embeddings-and-output-weights");
    // The preset of both, or none.
    const double dropout = shape_.dropout ? 0.1 : 0;
    model_.value("--hidden-dropout", dropout);
    model_.value("--attention-dropout", dropout);
  }

  void add_heads() {
    model_.flag_if(shape_.qk_norm || shape_.mla, "--qk-layernorm");
    if (const auto& mla = shape_.mla) {
      model_.flag("--multi-latent-attention");
      if (mla->query_rank > 0) model_.value("--q-lora-rank", mla->query_rank);
      model_.value("--kv-lora-rank", mla->kv_rank);
      model_.value("--qk-head-dim", mla->nope_dim);
      model_.value("--qk-pos-emb-head-dim", mla->rope_dim);
      model_.value("--v-head-dim", mla->value_dim);
      return;
    }
    if (shape_.kv_heads != shape_.heads) {
      model_.flag("--group-query-attention");
      model_.value("--num-query-groups", shape_.kv_heads);
    }
    model_.value("--kv-channels", shape_.head_dim);
    model_.flag_if(shape_.qkv_bias, "--add-qkv-bias");
    model_.flag_if(shape_.attention_gate, "--attention-output-gate");
    if (shape_.sinks) model_.value("--softmax-type", "learnable");
  }

  /// A layer a letter by one option, or layers of two parts as those of a GPT some of which have
  /// another kind of attention.
  void add_hybrid(const HybridLayers& hybrid) {
    if (hybrid.parts == 1) {
      std::string pattern = hybrid.pattern;
      for (std::int64_t depth = 0; depth < shape_.mtp_layers; ++depth)
        pattern += "/" + hybrid.mtp_pattern;
      model_.value("--hybrid-layer-pattern", pattern);
      model_.values("--spec",
                    {"megatron.core.models.hybrid.hybrid_layer_specs", "hybrid_stack_spec"});
    } else {
      std::string nets, experts;
      for (std::size_t i = 0; i < hybrid.pattern.size(); i += 2) {
        nets += hybrid.pattern[i] == 'G' ? "1," : "0,";
        experts += hybrid.pattern[i + 1] == 'E' ? "1," : "0,";
      }
      model_.value("--experimental-attention-variant", "gated_delta_net");
      model_.value("--linear-attention-freq", fmt::format("[{}]", nets));
      if (shape_.experts) model_.value("--moe-layer-freq", fmt::format("[{}]", experts));
    }
    if (hybrid.has('M')) {
      model_.value("--mamba-num-heads", hybrid.heads);
      model_.value("--mamba-head-dim", hybrid.head_dim);
      model_.value("--mamba-num-groups", hybrid.groups);
      model_.value("--mamba-state-dim", hybrid.state);
    }
    if (!hybrid.delta_net) return;
    model_.value("--linear-num-key-heads", hybrid.delta_net->key_heads);
    model_.value("--linear-num-value-heads", hybrid.delta_net->value_heads);
    model_.value("--linear-key-head-dim", hybrid.delta_net->key_dim);
    model_.value("--linear-value-head-dim", hybrid.delta_net->value_dim);
    model_.value("--linear-conv-kernel-dim", hybrid.delta_net->convolution);
  }

  /// Tokens before and behind each one that it attends to besides itself.
  void add_window(const AttentionWindow& window) {
    model_.value("--window-size", fmt::format("{},0", window.tokens - 1));
    if (window.full_every > 0) model_.value("--window-attn-skip-freq", window.full_every);
  }

  void add_experts() {
    const Experts& experts = *shape_.experts;
    model_.value("--num-experts", experts.count);
    model_.value("--moe-router-topk", experts.top_k);
    model_.value("--moe-ffn-hidden-size", experts.ffn);
    if (experts.shared_ffn > 0)
      model_.value("--moe-shared-expert-intermediate-size", experts.shared_ffn);
    model_.flag_if(experts.shared_gate, "--moe-shared-expert-gate");
    if (experts.dense_layers > 0)
      model_.value("--moe-layer-freq", fmt::format("([0]*{}+[1]*{})", experts.dense_layers,
                                                   shape_.layers - experts.dense_layers));
    if (experts.groups > 1) {
      model_.value("--moe-router-num-groups", experts.groups);
      model_.value("--moe-router-group-topk", experts.top_groups);
    }
    if (experts.clamp > 0) {
      // openai/gpt-oss gpt_oss/torch/model.py, swiglu.
      model_.flag("--quick-geglu");
      model_.value("--activation-func-clamp-value", experts.clamp);
      model_.value("--glu-linear-offset", 1);
    }
    model_.flag("--moe-grouped-gemm");
    const ExpertParallel& split = p_.expert;
    model_.flag_if(split.router_fusion, "--moe-router-fusion");
    model_.flag_if(split.permute_fusion, "--moe-permute-fusion");
    model_.flag_if(split.router_padding, "--moe-router-padding-for-quantization");
    model_.flag_if(split.grouped_kernel, "--moe-use-grouped-tensor");
    parallel_.value("--expert-model-parallel-size", split.degree);
    if (split.tensor.value_or(p_.tensor) != p_.tensor)
      parallel_.value("--expert-tensor-parallel-size", *split.tensor);
    const bool is_deep = split.dispatcher == Dispatcher::deepep;
    const bool is_hybrid = split.dispatcher == Dispatcher::hybrid_ep;
    parallel_.value("--moe-token-dispatcher-type", is_deep || is_hybrid ? "flex"
                                                   : split.dispatcher == Dispatcher::all_gather
                                                       ? "allgather"
                                                       : "alltoall");
    parallel_.flag_if(is_deep, "--moe-enable-deepep");
    if (is_hybrid) parallel_.value("--moe-flex-dispatcher-backend", "hybridep");
    if (is_deep && split.sms) parallel_.value("--moe-deepep-num-sms", *split.sms);
    if (is_hybrid && split.sms) parallel_.value("--moe-hybridep-num-sms", *split.sms);
    const bool pairs = split.overlap.value_or(false);
    parallel_.flag_if(pairs, "--overlap-moe-expert-parallel-comm");
    parallel_.flag_if(split.overlap_shared, "--moe-shared-expert-overlap");
    if (split.delay_wgrad)
      parallel_.flag(pairs ? "--delay-wgrad-compute"
                           : "--overlap-dispatch-backward-with-experts-wgrad");
    if (!split.capacity) return;
    parallel_.value("--moe-expert-capacity-factor", *split.capacity);
    parallel_.flag("--moe-pad-expert-input-to-capacity");
  }

  void add_batch() {
    training_.value("--seq-length", t_.sequence_length);
    training_.value("--micro-batch-size", t_.micro_batch);
    training_.value("--global-batch-size", t_.global_batch);
    const bool is_momentum = t_.optimizer == "momentum";
    const bool is_muon = t_.optimizer == "muon", is_soap = t_.optimizer == kSoap;
    if (!is_momentum && !is_muon && !is_soap && t_.optimizer != "adam" && t_.optimizer != "sgd")
      throw UserError(fmt::format(
          "training.optimizer: {}: megatron has adam, momentum, muon, sgd and soap", t_.optimizer));
    if (is_muon) add_muon();
    if (is_soap) check_soap();
    training_.value("--optimizer", is_momentum ? "sgd" : t_.optimizer);
    // Its preset for SGD is 0.9.
    if (is_momentum || t_.optimizer == "sgd")
      training_.value("--sgd-momentum", is_momentum ? 0.9 : 0);
    training_.value("--clip-grad", t_.gradient_clipping ? 1 : 0);
  }

  /// It has no options.
  void check_soap() {
    const Preconditioner keys = t_.preconditioner_keys();
    if (keys.every != 1 || keys.largest_side != 0 || !keys.kl_statistics)
      throw UserError(
          "training.preconditioner: megatron's soap has every: 1, largest_side: 0, "
          "kl_statistics: true");
  }

  void add_muon() {
    const Muon muon = t_.muon_keys();
    if (muon.steps != Muon{}.steps) training_.value("--muon-num-ns-steps", muon.steps);
    training_.flag_if(muon.nesterov, "--muon-nesterov");
    training_.flag_if(!muon.split_qkv, "--muon-no-split-qkv");
    training_.flag_if(muon.symmetric, "--muon-use-syrk");
    if (muon.tensor_mode != MuonTensorMode::duplicated)
      training_.value("--muon-tp-mode", name_of(muon.tensor_mode));
  }

  void add_precision() {
    const bool is_fp8 = t_.precision == Precision::fp8;
    training_.flag_if(storage_of(t_.precision) == Precision::bf16, "--bf16");
    training_.flag_if(t_.precision == Precision::fp16, "--fp16");
    if (is_fp8) {
      training_.value("--fp8-format", "hybrid");
      training_.value("--fp8-recipe", t_.fp8_scaling == Fp8Scaling::current ? "tensorwise"
                                      : scales_blocks(t_.fp8_scaling) ? name_of(t_.fp8_scaling)
                                                                      : "delayed");
      training_.flag_if(t_.fp8_parameters, "--fp8-param-gather");
    }
    if (t_.precision == Precision::nvfp4) {
      training_.value("--fp4-format", "e2m1");
      training_.value("--fp4-recipe", "nvfp4");
      training_.flag_if(t_.fp8_parameters, "--fp4-param-gather");
    }
    if (t_.bf16_layers) {
      training_.flag("--first-last-layers-bf16");
      training_.value("--num-layers-at-start-in-bf16", t_.bf16_layers->first);
      training_.value("--num-layers-at-end-in-bf16", t_.bf16_layers->last);
    }
    if (t_.moments && *t_.moments != Precision::fp32) {
      training_.flag("--use-precision-aware-optimizer");
      training_.value("--exp-avg-dtype", name_of(*t_.moments));
      training_.value("--exp-avg-sq-dtype", name_of(*t_.moments));
    }
    const bool is_wide = t_.gradients == Precision::fp32;
    training_.flag_if(t_.gradients == Precision::bf16, "--grad-reduce-in-bf16");
    training_.flag_if(is_wide && t_.precision == Precision::fp16,
                      "--accumulate-allreduce-grads-in-fp32");
  }

  void add_kernels() {
    const bool is_te = t_.cross_entropy == CrossEntropy::transformer_engine;
    if (is_te || t_.cross_entropy == CrossEntropy::megatron_fused) {
      training_.flag("--cross-entropy-loss-fusion");
      training_.value("--cross-entropy-fusion-impl", is_te ? "te" : "native");
    }
    training_.value("--transformer-impl", name_of(t_.transformer_impl));
    // Which FlashAttention is installed stands in no option.
    training_.value("--attention-backend", t_.attention == "cudnn"            ? "fused"
                                           : is_fused_attention(t_.attention) ? "flash"
                                                                              : "unfused");
    training_.flag_if(!t_.bias_dropout_fusion, "--no-bias-dropout-fusion");
    training_.flag_if(!t_.rope_fusion, "--no-rope-fusion");
    training_.flag_if(!t_.fused_accumulation, "--no-gradient-accumulation-fusion");
    const Recomputation& again = t_.recompute;
    if (again.kind == Recompute::none) return;
    training_.value("--recompute-granularity", name_of(again.kind));
    if (again.kind == Recompute::full) {
      training_.value("--recompute-method", name_of(again.method));
      training_.value("--recompute-num-layers", again.layers);
      return;
    }
    std::vector<std::string> modules;
    for (const RecomputeModule module : again.modules)
      modules.push_back(module == RecomputeModule::core_attention ? "core_attn" : name_of(module));
    training_.values("--recompute-modules", modules);
  }

  void add_splits() {
    parallel_.value("--tensor-model-parallel-size", p_.tensor);
    parallel_.flag_if(p_.sequence && p_.tensor > 1, "--sequence-parallel");
    parallel_.flag_if(p_.split_products == SplitProducts::user_buffers, "--tp-comm-overlap");
    parallel_.flag_if(name_of_order() == "tp-cp-ep-pp-dp", "--use-tp-pp-dp-mapping");
    if (p_.context.degree == 1) return;
    parallel_.value("--context-parallel-size", p_.context.degree);
    parallel_.value("--cp-comm-type", p_.context.kind == ContextKind::ring         ? "p2p"
                                      : p_.context.kind == ContextKind::all_gather ? "all_gather"
                                                                                   : "a2a");
  }

  std::string name_of_order() const { return write_scalar(p_.order); }

  void add_pipeline() {
    const Pipeline& pipeline = p_.pipeline;
    parallel_.value("--pipeline-model-parallel-size", pipeline.stages);
    const MegatronLayers layers = megatron_layers(pipeline, shape_.mtp_layers);
    if (!layers.layout.empty())
      parallel_.value("--pipeline-model-parallel-layout", layers.layout);
    else if (pipeline.chunks > 1)
      parallel_.value("--num-virtual-stages-per-pipeline-rank", pipeline.chunks);
    parallel_.flag_if(pipeline.chunks > 1 && !pipeline.overlap_p2p,
                      "--no-overlap-p2p-communication");
    parallel_.flag_if(layers.embedding, "--account-for-embedding-in-pipeline-split");
    parallel_.flag_if(layers.loss, "--account-for-loss-in-pipeline-split");
    if (layers.first > 0) parallel_.value("--decoder-first-pipeline-num-layers", layers.first);
    if (layers.last > 0) parallel_.value("--decoder-last-pipeline-num-layers", layers.last);
  }

  void add_data() {
    const DataParallel& data = p_.data;
    const Sharding& sharding = data.sharding;
    parallel_.flag_if(sharding.shards_optimizer, "--use-distributed-optimizer");
    if (sharding.shards_gradients || sharding.shards_parameters) {
      parallel_.flag("--use-megatron-fsdp");
      parallel_.value("--data-parallel-sharding-strategy",
                      sharding.shards_parameters ? "optim_grads_params" : "optim_grads");
      if (data.reduce_dtype)
        parallel_.value("--megatron-fsdp-grad-comm-dtype", name_of(*data.reduce_dtype));
      run_.value("--ckpt-format", "fsdp_dtensor");
    }
    if (s_.shard_groups() > 1)
      parallel_.value("--num-distributed-optimizer-instances", s_.shard_groups());
    parallel_.flag_if(data.overlap, "--overlap-grad-reduce");
    const bool gathers_beside = data.overlap_param_gather && sharding.gathers_updates();
    parallel_.flag_if(gathers_beside, "--overlap-param-gather");
    parallel_.flag_if(gathers_beside && p_.pipeline.chunks > 1 && !data.align_param_gather,
                      "--no-align-param-gather");
    parallel_.flag_if(data.averaging == Averaging::collective, "--ddp-average-in-collective");
    parallel_.flag_if(!data.check_for_nan_in_grad, "--no-check-for-nan-in-loss-and-grad");
    // Its CPU optimizer is a part of the precision-aware one (megatron/training/arguments.py).
    parallel_.flag_if(data.offload_optimizer, "--optimizer-cpu-offload");
    parallel_.flag_if(data.offload_optimizer, "--use-precision-aware-optimizer");
    add_bucket();
  }

  /// In elements, where it is not the preset and a whole number of them.
  void add_bucket() {
    const double element = bytes_per_element(t_.gradients);
    const double elements = p_.data.bucket.base() / element;
    const auto whole = static_cast<std::int64_t>(elements);
    if (elements != bucket_elements(Framework::megatron, s_.replicas()) && whole > 0)
      parallel_.value("--ddp-bucket-size", whole);
  }

  /// What it asks for and a plan does not say.
  void add_stand_ins() {
    run_.flag("--mock-data");
    run_.value("--tokenizer-type", "NullTokenizer");
    run_.value("--train-iters", 10);
    run_.value("--lr", "1e-4");
  }

  std::string script() const {
    std::string text = fmt::format(
        "#!/bin/bash\n# Megatron-LM's options for {}, written by stepsim export megatron.\n"
        "# Start it on every node; HEAD is the name of one of them.\n",
        quoted(s_.name));
    // Collectives that are to run beside products start first with one queue alone
    // (megatron/training/arguments.py, its checks of sequence and context parallelism).
    const bool is_fsdp = p_.data.sharding.shards_gradients || p_.data.sharding.shards_parameters;
    if (!is_fsdp && (p_.tensor > 1 || p_.context.degree > 1))
      text += "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
    std::string all;
    for (const OptionGroup* group : groups()) {
      text += group->text();
      if (group != &launch_) all += fmt::format(" \"${{{}[@]}}\"", group->name());
    }
    return text +
           "torchrun --rdzv_backend c10d --rdzv_endpoint \"${HEAD:-localhost}:29500\" "
           "\"${LAUNCH[@]}\" \\\n  " +
           (shape_.hybrid && shape_.hybrid->parts == 1 ? "pretrain_hybrid.py" : "pretrain_gpt.py") +
           all + "\n";
  }

  const Scenario& s_;
  const Training& t_;
  const Parallelism& p_;
  const Transformer& shape_;
  OptionGroup launch_{"LAUNCH"}, model_{"MODEL"}, training_{"TRAINING"}, parallel_{"PARALLEL"},
      run_{"RUN"};
};

const Registered<Exporter> registered{
    {.name = "megatron",
     .description = "a script with Megatron-LM's command line",
     .framework = [](const Scenario&) { return Framework::megatron; },
     .write = [](const Scenario& scenario) { return MegatronExport(scenario).write(); }}};

}  // namespace
}  // namespace stepsim
