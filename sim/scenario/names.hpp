// The words that scenarios and reports use for the choices of scenario.hpp.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// In the order of the variant Model::shape.
enum class ModelKind { transformer, mlp, resnet, dlrm };

/// All words of one choice, in the order in which messages list them.
template <class E>
inline constexpr std::array<std::pair<std::string_view, E>, 0> kNames{};

template <>
inline constexpr std::array kNames<Precision> = {
    std::pair{std::string_view("fp32"), Precision::fp32},
    std::pair{std::string_view("tf32"), Precision::tf32},
    std::pair{std::string_view("fp16"), Precision::fp16},
    std::pair{std::string_view("bf16"), Precision::bf16},
    std::pair{std::string_view("fp8"), Precision::fp8}};
template <>
inline constexpr std::array kNames<Architecture> = {
    std::pair{std::string_view("volta"), Architecture::volta},
    std::pair{std::string_view("ampere"), Architecture::ampere},
    std::pair{std::string_view("hopper"), Architecture::hopper},
    std::pair{std::string_view("blackwell"), Architecture::blackwell}};
template <>
inline constexpr std::array kNames<GemmModel> = {
    std::pair{std::string_view("tiled"), GemmModel::tiled},
    std::pair{std::string_view("smooth"), GemmModel::smooth}};
template <>
inline constexpr std::array kNames<Protocol> = {
    std::pair{std::string_view("ll"), Protocol::ll},
    std::pair{std::string_view("ll128"), Protocol::ll128},
    std::pair{std::string_view("simple"), Protocol::simple}};
template <>
inline constexpr std::array kNames<NcclVersion> = {
    std::pair{std::string_view("2.4"), NcclVersion::v2_4},
    std::pair{std::string_view("2.20"), NcclVersion::v2_20},
    std::pair{std::string_view("2.27"), NcclVersion::v2_27},
    std::pair{std::string_view("2.30"), NcclVersion::v2_30}};
template <>
inline constexpr std::array kNames<Recompute> = {
    std::pair{std::string_view("none"), Recompute::none},
    std::pair{std::string_view("selective"), Recompute::selective},
    std::pair{std::string_view("full"), Recompute::full}};
template <>
inline constexpr std::array kNames<Fusion> = {
    std::pair{std::string_view("none"), Fusion::none},
    std::pair{std::string_view("fused"), Fusion::fused},
    std::pair{std::string_view("compiled"), Fusion::compiled},
    std::pair{std::string_view("xla"), Fusion::xla}};
template <>
inline constexpr std::array kNames<RecomputeMethod> = {
    std::pair{std::string_view("uniform"), RecomputeMethod::uniform},
    std::pair{std::string_view("block"), RecomputeMethod::block}};
template <>
inline constexpr std::array kNames<MovingKernels> = {
    std::pair{std::string_view("elementwise"), MovingKernels::elementwise},
    std::pair{std::string_view("dropout"), MovingKernels::dropout},
    std::pair{std::string_view("norm"), MovingKernels::norm},
    std::pair{std::string_view("softmax"), MovingKernels::softmax}};
template <>
inline constexpr std::array kNames<RecomputeModule> = {
    std::pair{std::string_view("core_attention"), RecomputeModule::core_attention},
    std::pair{std::string_view("attention"), RecomputeModule::attention},
    std::pair{std::string_view("layernorm"), RecomputeModule::layernorm},
    std::pair{std::string_view("mla_up_proj"), RecomputeModule::mla_up_proj},
    std::pair{std::string_view("mlp"), RecomputeModule::mlp},
    std::pair{std::string_view("mlp_up"), RecomputeModule::mlp_up},
    std::pair{std::string_view("moe"), RecomputeModule::moe},
    std::pair{std::string_view("moe_act"), RecomputeModule::moe_act},
    std::pair{std::string_view("shared_experts"), RecomputeModule::shared_experts},
    std::pair{std::string_view("every_second_matmul"), RecomputeModule::every_second_matmul}};
template <>
inline constexpr std::array kNames<LoraTarget> = {
    std::pair{std::string_view("linear_qkv"), LoraTarget::linear_qkv},
    std::pair{std::string_view("linear_q"), LoraTarget::linear_q},
    std::pair{std::string_view("linear_k"), LoraTarget::linear_k},
    std::pair{std::string_view("linear_v"), LoraTarget::linear_v},
    std::pair{std::string_view("linear_proj"), LoraTarget::linear_proj},
    std::pair{std::string_view("linear_fc1"), LoraTarget::linear_fc1},
    std::pair{std::string_view("linear_fc2"), LoraTarget::linear_fc2}};
template <>
inline constexpr std::array kNames<AmaxReduction> = {
    std::pair{std::string_view("all"), AmaxReduction::all},
    std::pair{std::string_view("tensor"), AmaxReduction::tensor},
    std::pair{std::string_view("none"), AmaxReduction::none}};
template <>
inline constexpr std::array kNames<Fp8Scaling> = {
    std::pair{std::string_view("delayed"), Fp8Scaling::delayed},
    std::pair{std::string_view("current"), Fp8Scaling::current},
    std::pair{std::string_view("mxfp8"), Fp8Scaling::mxfp8}};
template <>
inline constexpr std::array kNames<OptimizerKernels> = {
    std::pair{std::string_view("fused"), OptimizerKernels::fused},
    std::pair{std::string_view("foreach"), OptimizerKernels::foreach_op},
    std::pair{std::string_view("per_tensor"), OptimizerKernels::per_tensor},
    std::pair{std::string_view("composed"), OptimizerKernels::composed}};
template <>
inline constexpr std::array kNames<UsedGradients> = {
    std::pair{std::string_view("clear_buffer"), UsedGradients::clear_buffer},
    std::pair{std::string_view("clear_tensors"), UsedGradients::clear_tensors},
    std::pair{std::string_view("free"), UsedGradients::free},
    std::pair{std::string_view("keep"), UsedGradients::keep}};
template <>
inline constexpr std::array kNames<TransformerImpl> = {
    std::pair{std::string_view("local"), TransformerImpl::local},
    std::pair{std::string_view("transformer_engine"), TransformerImpl::transformer_engine}};
template <>
inline constexpr std::array kNames<LayerPart> = {
    std::pair{std::string_view("activation"), LayerPart::activation},
    std::pair{std::string_view("residual"), LayerPart::residual},
    std::pair{std::string_view("norm"), LayerPart::norm},
    std::pair{std::string_view("softmax"), LayerPart::softmax}};
template <>
inline constexpr std::array kNames<ComposedOperation> = {
    std::pair{std::string_view("activation"), ComposedOperation::activation},
    std::pair{std::string_view("dropout"), ComposedOperation::dropout},
    std::pair{std::string_view("norm"), ComposedOperation::norm},
    std::pair{std::string_view("softmax"), ComposedOperation::softmax}};
template <>
inline constexpr std::array kNames<GradientPass> = {
    std::pair{std::string_view("unscale"), GradientPass::unscale},
    std::pair{std::string_view("check"), GradientPass::check},
    std::pair{std::string_view("clip"), GradientPass::clip}};
template <>
inline constexpr std::array kNames<EmbeddingLookup> = {
    std::pair{std::string_view("index"), EmbeddingLookup::index},
    std::pair{std::string_view("matmul"), EmbeddingLookup::matmul}};
template <>
inline constexpr std::array kNames<CrossEntropy> = {
    std::pair{std::string_view("megatron"), CrossEntropy::megatron},
    std::pair{std::string_view("torch"), CrossEntropy::torch},
    std::pair{std::string_view("xentropy"), CrossEntropy::xentropy},
    std::pair{std::string_view("transformer_engine"), CrossEntropy::transformer_engine}};
template <>
inline constexpr std::array kNames<Sharding> = {
    std::pair{std::string_view("ddp"), Sharding::ddp},
    std::pair{std::string_view("zero1"), Sharding::zero1},
    std::pair{std::string_view("zero2"), Sharding::zero2},
    std::pair{std::string_view("zero3"), Sharding::zero3}};
template <>
inline constexpr std::array kNames<ContextKind> = {
    std::pair{std::string_view("ring"), ContextKind::ring},
    std::pair{std::string_view("all_gather"), ContextKind::all_gather},
    std::pair{std::string_view("all_to_all"), ContextKind::all_to_all}};
template <>
inline constexpr std::array kNames<Dispatcher> = {
    std::pair{std::string_view("all_to_all"), Dispatcher::all_to_all},
    std::pair{std::string_view("deepep"), Dispatcher::deepep}};
template <>
inline constexpr std::array kNames<Framework> = {
    std::pair{std::string_view("pytorch-ddp"), Framework::pytorch_ddp},
    std::pair{std::string_view("pytorch-fsdp1"), Framework::pytorch_fsdp1},
    std::pair{std::string_view("pytorch-fsdp2"), Framework::pytorch_fsdp2},
    std::pair{std::string_view("megatron"), Framework::megatron},
    std::pair{std::string_view("deepspeed"), Framework::deepspeed}};
template <>
inline constexpr std::array kNames<Prefetch> = {
    std::pair{std::string_view("pre"), Prefetch::pre},
    std::pair{std::string_view("post"), Prefetch::post},
    std::pair{std::string_view("none"), Prefetch::none}};
template <>
inline constexpr std::array kNames<BucketOrder> = {
    std::pair{std::string_view("backward"), BucketOrder::backward},
    std::pair{std::string_view("forward"), BucketOrder::forward}};
template <>
inline constexpr std::array kNames<Averaging> = {
    std::pair{std::string_view("bucket"), Averaging::bucket},
    std::pair{std::string_view("gradient"), Averaging::gradient},
    std::pair{std::string_view("collective"), Averaging::collective}};
template <>
inline constexpr std::array kNames<Reshard> = {
    std::pair{std::string_view("all"), Reshard::all},
    std::pair{std::string_view("layers"), Reshard::layers},
    std::pair{std::string_view("none"), Reshard::none}};
template <>
inline constexpr std::array kNames<ModelKind> = {
    std::pair{std::string_view("transformer"), ModelKind::transformer},
    std::pair{std::string_view("mlp"), ModelKind::mlp},
    std::pair{std::string_view("resnet"), ModelKind::resnet},
    std::pair{std::string_view("dlrm"), ModelKind::dlrm}};
template <>
inline constexpr std::array kNames<EmbeddingSplit> = {
    std::pair{std::string_view("table"), EmbeddingSplit::table},
    std::pair{std::string_view("row"), EmbeddingSplit::row}};
template <>
inline constexpr std::array kNames<BottomMlp> = {
    std::pair{std::string_view("each"), BottomMlp::each},
    std::pair{std::string_view("first"), BottomMlp::first}};
template <>
inline constexpr std::array kNames<Layout> = {std::pair{std::string_view("nhwc"), Layout::nhwc},
                                              std::pair{std::string_view("nchw"), Layout::nchw}};
template <>
inline constexpr std::array kNames<DrawPer> = {std::pair{std::string_view("call"), DrawPer::call},
                                               std::pair{std::string_view("step"), DrawPer::step},
                                               std::pair{std::string_view("run"), DrawPer::run}};
template <>
inline constexpr std::array kNames<StorageTier> = {
    std::pair{std::string_view("custom"), StorageTier::custom},
    std::pair{std::string_view("object_store"), StorageTier::object_store},
    std::pair{std::string_view("shared_filesystem"), StorageTier::shared_filesystem},
    std::pair{std::string_view("local_nvme"), StorageTier::local_nvme},
    std::pair{std::string_view("page_cache"), StorageTier::page_cache}};
template <>
inline constexpr std::array kNames<StoragePath> = {
    std::pair{std::string_view("own"), StoragePath::own},
    std::pair{std::string_view("fabric"), StoragePath::fabric}};
template <>
inline constexpr std::array kNames<CachePolicy> = {
    std::pair{std::string_view("lru"), CachePolicy::lru},
    std::pair{std::string_view("keep"), CachePolicy::keep}};
template <>
inline constexpr std::array kNames<Decoder> = {std::pair{std::string_view("cpu"), Decoder::cpu},
                                               std::pair{std::string_view("gpu"), Decoder::gpu}};
template <>
inline constexpr std::array kNames<CheckpointMode> = {
    std::pair{std::string_view("sync"), CheckpointMode::sync},
    std::pair{std::string_view("async"), CheckpointMode::async}};
template <>
inline constexpr std::array kNames<HostMode> = {
    std::pair{std::string_view("eager"), HostMode::eager},
    std::pair{std::string_view("blocking"), HostMode::blocking},
    std::pair{std::string_view("compiled"), HostMode::compiled},
    std::pair{std::string_view("graph"), HostMode::graph}};
template <>
inline constexpr std::array kNames<HostPace> = {
    std::pair{std::string_view("launches"), HostPace::launches},
    std::pair{std::string_view("calls"), HostPace::calls}};
template <>
inline constexpr std::array kNames<Per> = {
    std::pair{std::string_view("step"), Per::step},
    std::pair{std::string_view("micro_batch"), Per::micro_batch}};
template <>
inline constexpr std::array kNames<ReadPer> = {
    std::pair{std::string_view("step"), ReadPer::step},
    std::pair{std::string_view("micro_batch"), ReadPer::micro_batch},
    std::pair{std::string_view("pass"), ReadPer::pass}};
template <>
inline constexpr std::array kNames<HostAfter> = {
    std::pair{std::string_view("batch"), HostAfter::batch},
    std::pair{std::string_view("input"), HostAfter::input},
    std::pair{std::string_view("forward"), HostAfter::forward},
    std::pair{std::string_view("backward"), HostAfter::backward},
    std::pair{std::string_view("step"), HostAfter::step}};
template <>
inline constexpr std::array kNames<CompiledPass> = {
    std::pair{std::string_view("forward"), CompiledPass::forward},
    std::pair{std::string_view("backward"), CompiledPass::backward}};
template <>
inline constexpr std::array kNames<NewShape> = {
    std::pair{std::string_view("steps"), NewShape::steps},
    std::pair{std::string_view("last_batch"), NewShape::last_batch}};

/// A choice that has words.
template <class E>
concept Named = kNames<E>
.size() > 0;

/// "bf16"
template <Named E>
std::string name_of(E choice) {
  for (const auto& [name, value] : kNames<E>) {
    if (value == choice) return std::string(name);
  }
  return "";
}

template <Named E>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const auto& [name, value] : kNames<E>) names.emplace_back(name);
  return names;
}

}  // namespace stepsim
