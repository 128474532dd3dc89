// Lists of Megatron-LM's options that are not read (NVIDIA/Megatron-LM
// megatron/training/arguments.py).
//
// Most options are generated from dataclasses there (megatron/core/model_parallel_config.py,
// transformer/transformer_config.py), names with dashes.
#include "sim/import/megatron/megatron_flags.hpp"

#include <algorithm>

#include "sim/core/words.hpp"
#include "sim/import/megatron/fork_flags.hpp"

namespace stepsim {
namespace {

/// Beginnings of the names of data, numerics, schedules of the learning rate, saving, logging, the
/// launcher, and parts of --tp-comm-overlap, which has a note itself.
constexpr std::string_view kHarmless =
    "DDP-impl adam- adlr-autoresume allow-ambiguous app-tag "
    "apply-layernorm-1p apply-query-key-layer-scaling async- attention-softmax-in-fp32 "
    "auto-detect-ckpt bert- beta- biencoder block-data-path cache-mla-latents calc-ft "
    "calculate-per-token-loss chat-template check-for-large-grads check-for-nan "
    "check-for-spiky-loss check-weight-hash ckpt config-logger-dir create-all-gather-group "
    "cuda-graph-warmup data- dataloader- decoder-seq-length decoupled- deterministic-mode "
    "disable-align-grad disable-bf16-reduced disable-clone-scatter disable-gloo disable-jit-fuser "
    "disable-log disable-manual-gc disable-msc disable-save-tokenizer disable-straggler "
    "disable-symmetric disable-tokenizer disable-tp-comm- disable-use-tokenizer dist-ckpt "
    "distrib-optim-fully distributed-backend distributed-timeout dump-param embedding-init "
    "embedding-weights-in-fp32 empty-unused-memory enable-experimental enable-ft enable-msc "
    "enable-one-logger end-weight eod error-injection eval- exit- "
    "fake-process-group fault-injector fim- finetune flight-recorder fp16-lm-cross-entropy "
    "fp8-amax fp8-interval fp8-margin fp8-param-gather fp8-recipe freeze- ft-num full-validation "
    "glu-linear-offset gpu-sniff grpo- high-priority-a2a high-priority-stream hostfile hysteresis "
    "inference init-method init-model initial-loss-scale initialize-socket inprocess "
    "iterations-to-skip kitchen layernorm-epsilon lazy-mpu-init legacy-tokenizer lion- load "
    "local-addr local-rank log loss-scale low-memory lr manual-gc mask-prob master max-restarts "
    "max-tokens-to-oom megatron-fsdp-version memory-snapshot merge-file merges mid-level "
    "min-loss-scale min-lr mmap mock module moe-apply-probs-on-input moe-aux-loss-coeff "
    "moe-enable-routing-replay moe-input-jitter-eps moe-per-layer-logging "
    "moe-router- moe-routing-trace moe-token-drop-policy moe-upcycling moe-use- moe-z-loss-coeff "
    "monitor-interval mscale mtp-loss-scaling-factor multiple-validation "
    "muon-coefficient-type muon-extra-scale-factor muon-momentum muon-scale-mode "
    "nccl-communicator-config new-tokens no-align-grad no-async-tensor no-barrier no-ckpt "
    "no-clone-scatter no-contiguous no-create-attention-mask no-data-sharding no-delay-grad "
    "no-dist no-flight no-initialization no-load no-log no-manual-gc no-mmap no-one-logger "
    "no-persist-layer-norm no-pin no-python no-query-key no-rdzv no-save no-strict no-tokenizer "
    "no-tp-comm- no-use-tokenizer no-weight-decay node-rank non-persistent "
    "norm-epsilon null-tokenizer num-dataset-builder num-workers nvtx-ranges object-storage "
    "one-logger onnx-safe openai-gelu otel output-logit override-lr override-opt per-dataset "
    "per-split persistent-save phase-transition pipeline-model-parallel-comm-backend "
    "pretrained-checkpoint profile pytorch-profiler qk-clip quantizer rdzv record- redirects "
    "replication rerun- reset- result-rejected rl- role rope-scaling rope-type rotary- s3-cache "
    "sample-rate save seed sequence-packing sft sgd-momentum sharp-enabled short-seq skip-train "
    "split squared-relu standalone start-eval start-method start-weight step-batch "
    "straggler suggested-communication swiglu- symmetric tb- te-precision te-rng tee tensorboard "
    "test-data test-mode tiktoken timing- titles tokenizer- tp-comm- train-data train-iters "
    "train-samples train-sync trust-remote-code use-checkpoint use-cpu-initialization "
    "use-dist-ckpt use-gigatoken use-legacy use-mcore use-mp-args use-mpi use-nccl-ub "
    "use-one-sent use-persistent-ckpt use-pytorch-profiler use-rope-scaling use-same "
    "use-te-activation use-tokenizer use-torch-optimizer valid-data validation-set "
    "verify-integrity vocab-extra-ids vocab-file wandb warmup weight-decay yarn-";

/// Options that are read beside others alone.
constexpr std::string_view kBesideOthers =
    "account-for-embedding-in-pipeline-split account-for-loss-in-pipeline-split "
    "activation-func-clamp-value activation-offload-fraction cpu-offloading-num-layers "
    "offload-modules "
    "accumulate-allreduce-grads-in-fp32 bf16 cp-comm-type cuda-graph-modules cuda-graph-scope "
    "data-parallel-sharding-strategy moe-shared-expert-overlap "
    "decoder-first-pipeline-num-layers decoder-last-pipeline-num-layers delay-wgrad-compute "
    "exp-avg-dtype exp-avg-sq-dtype expert-tensor-parallel-size first-last-layers-bf16 "
    "num-layers-at-end-in-bf16 num-layers-at-start-in-bf16 "
    "attention-output-gate experimental-attention-variant fp16 grad-reduce-in-bf16 "
    "group-query-attention kv-channels kv-lora-rank linear-attention-freq linear-conv-kernel-dim "
    "linear-key-head-dim linear-num-key-heads linear-num-value-heads linear-value-head-dim "
    "main-params-dtype megatron-fsdp-grad-comm-dtype muon-fp32-matmul-prec muon-nesterov "
    "muon-no-split-qkv muon-num-ns-steps "
    "muon-scalar-optimizer muon-tp-mode muon-use-syrk moe-permute-fusion moe-router-fusion "
    "moe-router-group-topk moe-router-num-groups moe-router-padding-for-fp8 "
    "moe-router-padding-for-quantization moe-use-grouped-tensor mtp-hybrid-override-pattern "
    "mtp-num-layers "
    "overlap-dispatch-backward-with-experts-wgrad use-precision-aware-optimizer "
    "moe-deepep-num-sms moe-enable-deepep moe-expert-capacity-factor moe-ffn-hidden-size "
    "moe-flex-dispatcher-backend moe-flex-dispatcher-num-sms moe-grouped-gemm "
    "moe-hybridep-num-sms moe-layer-freq "
    "moe-pad-expert-input-to-capacity moe-router-topk moe-shared-expert-gate "
    "moe-shared-expert-intermediate-size softmax-type "
    "moe-token-dispatcher-type no-overlap-p2p-communication "
    "no-scatter-gather-tensors-in-pipeline num-layers-per-virtual-pipeline-stage "
    "num-query-groups num-virtual-stages-per-pipeline-rank overlap-moe-expert-parallel-comm "
    "pipeline-model-parallel-layout q-lora-rank qk-head-dim qk-nope-head-dim "
    "qk-pos-emb-head-dim qk-rope-head-dim recompute-modules sgd-momentum "
    "torch-fsdp2-no-reshard-after-forward tp-comm-overlap use-distributed-optimizer v-head-dim "
    "window-attn-skip-freq";

/// Options, as words, and what is known of them.
struct KnownOptions {
  std::string_view names, text;
};

/// Options that change a step in a way that scenarios cannot say, with what is simulated.
constexpr KnownOptions kNotSimulated[] = {
    {"apply-residual-connection-post-layernorm", "residuals are taken before the norm"},
    {"ddp-num-buckets", "buckets have the size of the framework's preset"},
    {"ddp-pad-buckets-for-high-nccl-busbw", "buckets are not padded"},
    {"decrease-batch-size-if-needed", "the batch has its final size"},
    {"deepspeed", "DeepSpeed's optimizer runs as Megatron-LM's distributed one"},
    {"deepspeed-config",
     "its file is not read: --zero-stage, precision and batch of the command line count"},
    {"defer-embedding-wgrad-compute wgrad-deferral-limit",
     "weight gradients of the head run in their place"},
    {"distribute-saved-activations partition-activations",
     "each tensor-parallel rank keeps whole activations"},
    {"embed-layernorm", "no norm follows the embedding"},
    {"ep-overlap-early-attn-memory-release",
     "memory of attention is freed as the schedule ends with it"},
    {"fp32-residual-connection", "residuals have the precision of activations"},
    {"fp8-output-proj", "the output layer is computed in 16 bits"},
    {"fsdp-double-buffer", "buffers of FSDP are freed after use"},
    {"fused-residual-rmsnorm", "norms and residuals are separate kernels"},
    {"hierarchical-context-parallel-sizes", "context parallel ranks are one group"},
    {"hybrid-context-parallel", "all sequences have the same degree of context parallelism"},
    {"keep-fp8-transpose-cache", "transposed copies of fp8 weights are not kept"},
    {"max-tokens-per-gpu", "passes have --micro-batch-size sequences of --seq-length"},
    {"microbatch-group-size-per-virtual-pipeline-stage",
     "chunks take turns after as many micro-batches as there are stages"},
    {"mla-down-proj-fusion", "down projections are separate products"},
    {"mlp-chunks-for-training", "MLPs take the sequence at once"},
    {"moe-expert-rank-capacity-factor", "no token is dropped"},
    {"moe-extended-tp", "experts are split as all layers are"},
    {"moe-layer-recompute", "recompute is that of --recompute-granularity"},
    {"moe-mlp-glu-interleave-size", "gates and inputs of experts are not interleaved"},
    {"moe-pad-experts-for-cuda-graph-inference", "experts' rows are not padded"},
    {"moe-paged-stash", "activations stay where they are"},
    {"moe-router-topk-limited-devices", "a token may go to experts of every rank"},
    {"mtp-use-repeated-layer", "each depth of multi-token prediction has a layer of its own"},
    {"no-bias-gelu-fusion no-bias-swiglu-fusion", "bias and activation are one kernel"},
    {"no-fp8-wgrad", "weight gradients are computed in fp8"},
    {"no-gradient-reduce-div-fusion", "gradients are divided within their reduction"},
    {"no-masked-softmax-fusion", "masked softmax is one kernel"},
    {"no-rope-freq", "every layer has rotary embeddings"},
    {"no-use-layer-wise-param-layout", "shards of whole matrices are padded, bucket by bucket"},
    {"optimizer-cuda-graph", "the optimizer is launched kernel by kernel"},
    {"optimizer-offload-fraction", "all of the optimizer runs on the GPU"},
    {"outer-dp-sharding-strategy", "optimizer state is whole in each group of shards"},
    {"overlap-cpu-optimizer-d2h-h2d", "the optimizer runs on the GPU"},
    {"overlap-p2p-communication-warmup-flush", "warm-up transfers follow the schedule"},
    {"overlap-param-gather-with-optimizer-step", "parameters are gathered when all are updated"},
    {"pipeline-model-parallel-split-rank", "there is no second stack of layers"},
    {"qk-l2-norm", "queries and keys have no norm"},
    {"reuse-grad-buf-for-mxfp8-param-ag", "parameters are gathered into memory of their own"},
    {"rollout-batch-size", "a step of training alone: nothing is generated or rewarded"},
    {"standalone-embedding-stage", "the embedding shares its stage"},
    {"tensor-parallel-num-weight-shards", "weights have one shard a rank"},
    {"use-fused-weighted-squared-relu", "activation and weighting are separate kernels"},
    {"use-grouped-gemm-for-dense-mlp", "dense layers run as plain products"},
    {"use-kitchen-attention", "attention is that of training.attention"},
    {"use-ring-exchange-p2p", "transfers are sends and receives"},
    {"use-sharp", "reductions are those of the cluster's inter_node.sharp"},
    {"use-transformer-engine-op-fuser", "operations are fused as Transformer Engine's layers do"},
};

/// Beginnings of the names of options that only another kind of model has, with that kind.
constexpr KnownOptions kOtherModels[] = {
    {"biencoder", "two encoders"},
    {"dino- img-h swin-backbone-type vision-", "a vision model"},
    {"dsa-indexer-topk", "sparse attention"},
    {"enable-mhc-connections", "layers with several residual streams"},
    {"encoder-num-layers moe-latent-size", "such a model"},
    {"heterogeneous-layers-config", "layers that differ from each other"},
    {"hybrid-attention-ratio hybrid-layer-pattern hybrid-mlp-ratio hybrid-override-pattern "
     "is-hybrid-model mamba-",
     "a hybrid of Mamba and attention layers"},
    {"model-spec", "a model whose layers are in another file"},
    {"retro-", "a model that retrieves (RETRO)"},
    {"yaml-cfg", "a model whose options are in another file"},
};

/// Whether the name begins as one of these words does.
bool begins_like_one(std::string_view words, std::string_view name) {
  return std::ranges::any_of(words_of(words),
                             [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

bool leaves_step(std::string_view name) {
  return begins_like_one(kHarmless, name) || leaves_step_of_fork(name);
}

std::string_view simulated_instead_of(std::string_view name) {
  for (const KnownOptions& known : kNotSimulated)
    if (has_word(known.names, name)) return known.text;
  return {};
}

std::vector<std::string> options_with_effect() {
  std::vector<std::string> names;
  const auto add = [&](std::string_view words) {
    for (const std::string_view word : words_of(words)) names.emplace_back(word);
  };
  add(kBesideOthers);
  for (const KnownOptions& known : kNotSimulated) add(known.names);
  return names;
}

bool has_effect_elsewhere(std::string_view name) { return has_word(kBesideOthers, name); }

std::string_view other_model_of(std::string_view name) {
  for (const KnownOptions& known : kOtherModels)
    if (begins_like_one(known.names, name)) return known.text;
  return {};
}

}  // namespace stepsim
