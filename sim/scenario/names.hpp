// The words that scenarios and reports use for the choices of scenario.hpp.
#pragma once

#include "sim/core/names.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// A choice that has words.
template <class E>
concept Named = (!kNames<E>.empty());

/// In the order of the variant Model::shape.
enum class ModelKind { transformer, mlp, resnet, dlrm };

template <>
inline constexpr auto kNames<Architecture> = names_until(Architecture::cdna4, "volta", "ampere",
                                                         "hopper", "blackwell", "cdna3", "cdna4");
template <>
inline constexpr auto kNames<GemmModel> = names_until(GemmModel::smooth, "tiled", "smooth");
template <>
inline constexpr auto kNames<Protocol> = names_until(Protocol::simple, "ll", "ll128", "simple");
template <>
inline constexpr auto kNames<NcclVersion> = names_until(NcclVersion::v2_30, "2.4", "2.20", "2.27",
                                                        "2.30");
template <>
inline constexpr auto kNames<EngineKind> = names_until(EngineKind::simgrid, "exact", "simgrid");
template <>
inline constexpr auto kNames<Recompute> = names_until(Recompute::full, "none", "selective", "full");
template <>
inline constexpr auto kNames<RecomputeMethod> = names_until(RecomputeMethod::block, "uniform",
                                                            "block");
template <>
inline constexpr auto kNames<RecomputeModule> = names_until(
    RecomputeModule::every_second_matmul, "core_attention", "attention", "layernorm", "mla_up_proj",
    "mlp", "mlp_up", "moe", "moe_act", "shared_experts", "every_second_matmul");
template <>
inline constexpr auto kNames<LoraTarget> = names_until(LoraTarget::linear_kv_up_proj, "linear_qkv",
                                                       "linear_q", "linear_k", "linear_v",
                                                       "linear_proj", "linear_fc1", "linear_fc2",
                                                       "in_proj", "out_proj", "linear_q_proj",
                                                       "linear_q_down_proj", "linear_q_up_proj",
                                                       "linear_kv_down_proj", "linear_kv_up_proj");
template <>
inline constexpr auto kNames<AmaxReduction> = names_until(AmaxReduction::none, "all", "tensor",
                                                          "none");
template <>
inline constexpr auto kNames<GraphModule> = names_until(GraphModule::mamba, "attn", "mlp",
                                                        "moe_router", "moe_preprocess", "moe",
                                                        "mamba");
template <>
inline constexpr auto kNames<OffloadModule> = names_until(OffloadModule::moe_act, "attn_norm",
                                                          "qkv_linear", "core_attn", "attn_proj",
                                                          "mlp_norm", "expert_fc1", "moe_act");
template <>
inline constexpr auto kNames<WindowKind> = names_until(WindowKind::chunk, "sliding", "chunk");
template <>
inline constexpr auto kNames<PatchMerging> = names_until(PatchMerging::average, "concatenate",
                                                         "average");
template <>
inline constexpr auto kNames<ProjectorNorm> = names_until(ProjectorNorm::rms, "none", "layer",
                                                          "rms");
template <>
inline constexpr auto kNames<TowerPart> = names_until(TowerPart::decoder, "tower", "projector",
                                                      "decoder");
template <>
inline constexpr auto kNames<Modulation> = names_until(Modulation::shared, "layer", "shared");
template <>
inline constexpr auto kNames<TextKind> = names_until(TextKind::joint, "cross", "joint");
template <>
inline constexpr auto kNames<SplitProducts> = names_until(SplitProducts::flux, "none",
                                                          "user_buffers", "async_tp", "flux");
template <>
inline constexpr auto kNames<Fp8Scaling> = names_until(Fp8Scaling::blockwise, "delayed", "current",
                                                       "mxfp8", "blockwise");
template <>
inline constexpr auto kNames<OptimizerKernels> = names_until(OptimizerKernels::composed, "fused",
                                                             "foreach", "per_tensor", "composed");
template <>
inline constexpr auto kNames<UsedGradients> = names_until(UsedGradients::keep, "clear_buffer",
                                                          "clear_tensors", "free", "keep");
template <>
inline constexpr auto kNames<MuonTensorMode> = names_until(MuonTensorMode::distributed,
                                                           "duplicated", "blockwise",
                                                           "distributed");
template <>
inline constexpr auto kNames<MuonOwners> = names_until(MuonOwners::round_robin, "all",
                                                       "round_robin");
template <>
inline constexpr auto kNames<PreconditionerOwners> = names_until(PreconditionerOwners::greedy,
                                                                 "all", "greedy");
template <>
inline constexpr auto kNames<TransformerImpl> = names_until(TransformerImpl::transformer_engine,
                                                            "local", "transformer_engine");
template <>
inline constexpr auto kNames<CrossEntropy> = names_until(CrossEntropy::cut_cross_entropy,
                                                         "megatron", "megatron_fused", "torch",
                                                         "xentropy", "transformer_engine",
                                                         "flash_attn", "liger",
                                                         "liger_fused_linear", "cut_cross_entropy");
template <>
inline constexpr auto kNames<ContextKind> = names_until(ContextKind::all_to_all, "ring",
                                                        "all_gather", "all_to_all");
template <>
inline constexpr auto kNames<Dispatcher> = names_until(Dispatcher::hybrid_ep, "all_to_all",
                                                       "all_gather", "deepep", "hybrid_ep");
template <>
inline constexpr auto kNames<Framework> = names_until(Framework::deepspeed, "pytorch-ddp",
                                                      "pytorch-fsdp1", "pytorch-fsdp2", "megatron",
                                                      "deepspeed");
template <>
inline constexpr auto kNames<Prefetch> = names_until(Prefetch::none, "pre", "post", "none");
template <>
inline constexpr auto kNames<BucketOrder> = names_until(BucketOrder::forward, "backward",
                                                        "forward");
template <>
inline constexpr auto kNames<Averaging> = names_until(Averaging::collective, "bucket", "gradient",
                                                      "collective");
template <>
inline constexpr auto kNames<Reshard> = names_until(Reshard::none, "all", "layers", "none");
template <>
inline constexpr auto kNames<ModelKind> = names_until(ModelKind::dlrm, "transformer", "mlp",
                                                      "resnet", "dlrm");
template <>
inline constexpr auto kNames<EmbeddingSplit> = names_until(EmbeddingSplit::row, "table", "row");
template <>
inline constexpr auto kNames<BottomMlp> = names_until(BottomMlp::first, "each", "first");
template <>
inline constexpr auto kNames<Layout> = names_until(Layout::nchw, "nhwc", "nchw");
template <>
inline constexpr auto kNames<DrawPer> = names_until(DrawPer::run, "call", "step", "run");
template <>
inline constexpr auto kNames<StorageTier> = names_until(StorageTier::page_cache, "custom",
                                                        "object_store", "shared_filesystem",
                                                        "local_nvme", "page_cache");
template <>
inline constexpr auto kNames<StoragePath> = names_until(StoragePath::fabric, "own", "fabric");
template <>
inline constexpr auto kNames<CachePolicy> = names_until(CachePolicy::keep, "lru", "keep");
template <>
inline constexpr auto kNames<Decoder> = names_until(Decoder::gpu, "cpu", "gpu");
template <>
inline constexpr auto kNames<CheckpointMode> = names_until(CheckpointMode::async, "sync", "async");
template <>
inline constexpr auto kNames<HostMode> = names_until(HostMode::graph, "eager", "blocking",
                                                     "compiled", "graph");
template <>
inline constexpr auto kNames<HostPace> = names_until(HostPace::calls, "launches", "calls");
template <>
inline constexpr auto kNames<Per> = names_until(Per::micro_batch, "step", "micro_batch");
template <>
inline constexpr auto kNames<ReadPer> = names_until(ReadPer::pass, "step", "micro_batch", "pass");
template <>
inline constexpr auto kNames<HostAfter> = names_until(HostAfter::step, "batch", "input", "forward",
                                                      "backward", "step");
template <>
inline constexpr auto kNames<CompiledPass> = names_until(CompiledPass::backward, "forward",
                                                         "backward");
template <>
inline constexpr auto kNames<NewShape> = names_until(NewShape::last_batch, "steps", "last_batch");

}  // namespace stepsim
