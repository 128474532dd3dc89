// How a model is trained: batches, types of numbers, the optimizer, and whose kernels run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/quantity.hpp"
#include "sim/scenario/activation_offload.hpp"
#include "sim/scenario/gpu.hpp"
#include "sim/scenario/lora.hpp"
#include "sim/scenario/model/vision_tower.hpp"
#include "sim/scenario/muon.hpp"
#include "sim/scenario/packing.hpp"
#include "sim/scenario/preconditioner.hpp"
#include "sim/scenario/quantisation.hpp"
#include "sim/scenario/recompute.hpp"

namespace stepsim {

/// How an optimizer's formula becomes kernels: as few as possible for all parameters at once; one
/// an operation; one an operation and parameter tensor; or one a tensor and elementary operation,
/// as graphs of TensorFlow have it, whose results are assigned at last.
enum class OptimizerKernels { fused, foreach_op, per_tensor, composed };

/// What becomes of gradients after the update: a kernel clears the buffer that holds them all
/// (Megatron-LM); one a tensor clears it (PyTorch's zero_grad(set_to_none=False), its default
/// before 2.0); they are freed (set_to_none=True); nothing, so that later steps add to them.
enum class UsedGradients { clear_buffer, clear_tensors, free, keep };

/// Whose kernels compute the loss; bytes and sources: sim/ops/style/losses.cpp, and for those that
/// take the head's product in, so that there are no logits, sim/ops/layer/fused_linear_loss.cpp.
enum class CrossEntropy {
  megatron,
  megatron_fused,
  torch,
  xentropy,
  transformer_engine,
  flash_attn,
  liger,
  liger_fused_linear,
  cut_cross_entropy
};
/// Whether the loss and the product of the head are one operation.
constexpr bool takes_product_in(CrossEntropy library) {
  return library == CrossEntropy::liger_fused_linear || library == CrossEntropy::cut_cross_entropy;
}
/// Whether these kernels need all logits of a token on one rank.
constexpr bool needs_whole_tokens(CrossEntropy library) {
  return library == CrossEntropy::torch || library == CrossEntropy::xentropy;
}

/// The library whose linear layers run. Transformer Engine's keep an empty gradient for each shape
/// of weight (NVIDIA/TransformerEngine transformer_engine/pytorch/module/base.py, get_dummy_wgrad),
/// others make a new one each time (NVIDIA/Megatron-LM megatron/core/tensor_parallel/layers.py).
enum class TransformerImpl { local, transformer_engine };

/// Two kinds of attention are batched GEMMs and a softmax: Megatron-LM's, whose tensors need no
/// copies, and Hugging Face's eager attention, which moves the heads to the front and back.
inline constexpr const char* kUnfusedAttention = "unfused";
inline constexpr const char* kEagerAttention = "eager";
/// In scenarios: the reader puts a kernel in its place
/// (sim/scenario/describe/default_attention.hpp).
inline constexpr const char* kAutoAttention = "auto";
inline bool is_fused_attention(const std::string& kernel) {
  return kernel != kUnfusedAttention && kernel != kEagerAttention;
}

/// The first major version of cuBLAS whose kernels for tensor cores take rows of any length.
inline constexpr int kCublasOfAnyAlignment = 11;

/// How the model is trained.
struct Training {
  std::int64_t sequence_length = 0;  ///< tokens per sequence; 0 for models without one
  /// sequence length of decoders in encoder-decoder models; 0: sequence_length
  std::int64_t decoder_sequence_length = 0;
  std::int64_t global_batch = 0;           ///< sequences or samples per step, all ranks together
  std::int64_t micro_batch = 1;            ///< sequences or samples per pass of one rank
  std::optional<SequencePacking> packing;  ///< absent: attention is to the whole sequence
  Precision precision = Precision::bf16;
  bool autocast = false;  ///< products cast their weights, which are wider (torch.autocast)
  /// type that ranks keep parameters in; absent: fp32 with autocast, else as precision
  std::optional<Precision> parameters;
  Fp8Scaling fp8_scaling = Fp8Scaling::delayed;  ///< precision fp8
  std::optional<Bf16Layers> bf16_layers;         ///< absent: all layers are quantised
  std::optional<AmaxReduction> reduce_amax;      ///< absent: all, where there is anything to reduce
  /// parameters of linear layers, which sharded optimizers gather, are in fp8, or in nvfp4
  bool fp8_parameters = false;
  bool fp8_activation_input = false;  ///< gated activations keep their input in fp8
  /// type that gradients are kept and reduced in; default: as precision
  Precision gradients = Precision::bf16;
  bool fused_accumulation = true;  ///< weight-gradient GEMMs add to the gradients themselves
  bool master_weights = true;      ///< fp32 copies of parameters that are narrower
  std::string optimizer = "adam";  ///< a name of `stepsim list optimizers`
  std::optional<Muon> muon;        ///< optimizer muon; absent: its defaults
  std::optional<Preconditioner> preconditioner;  ///< soap and shampoo; absent: their defaults
  std::optional<Precision> moments;  ///< type of the optimizer's moments; absent: as its weights
  OptimizerKernels optimizer_kernels = OptimizerKernels::fused;
  bool weight_decay = true;  ///< a kernel of its own where kernels are not fused
  UsedGradients used_gradients = UsedGradients::clear_buffer;
  bool gradient_clipping = true;  ///< a global norm, hence a small all-reduce over all model ranks
  Recomputation recompute;
  std::optional<ActivationOffload> offload;  ///< absent: activations stay on the GPU
  std::string fusion = "fused";              ///< a name of `stepsim list styles`
  bool bias_dropout_fusion = true;           ///< fusion fused: of bias, dropout and residual too
  bool rope_fusion = true;  ///< fusion fused: rotary positions have kernels of their own
  /// Rows of the vocabulary are padded to a multiple of so many on each tensor rank; absent: of 128
  /// where they are split over ranks.
  std::optional<std::int64_t> vocabulary_multiple;
  /// unfused, eager, or an attention kernel of the GPU's profile
  std::string attention = kUnfusedAttention;
  bool fused_qkv = true;  ///< queries, keys and values by one linear layer
  TransformerImpl transformer_impl = TransformerImpl::local;
  int cublas = kCublasOfAnyAlignment;  ///< major version
  bool convolution_autotuning = true;  ///< cuDNN tries all kernels and takes the best
  CrossEntropy cross_entropy = CrossEntropy::megatron;
  std::int64_t loss_chunks = 1;  ///< of tokens, for each of which logits exist in turn
  int loss_metrics = 0;          ///< losses computed again after each forward pass, to be reported
  bool scan_layers = false;      ///< one loop runs equal layers, as JAX's lax.scan
  std::optional<Lora> lora;      ///< absent: all weights are trained
  std::optional<SequenceImages> images;  ///< of models with a tower
  std::vector<TowerPart> frozen = {};    ///< parts of models with a tower that are not trained
  /// Whether that part of a model with a tower is trained.
  bool trains(TowerPart part) const {
    return !lora && std::ranges::find(frozen, part) == frozen.end();
  }
  /// Bytes of an activation, and of a parameter as products take it.
  double element() const { return bytes_per_element(storage_of(precision)); }
  /// Bytes of a parameter as its ranks keep it.
  double parameter_element() const {
    const Precision preset = autocast ? Precision::fp32 : storage_of(precision);
    return bytes_per_element(parameters.value_or(preset));
  }
  /// Whether parameters are kept wider than products take them.
  bool keeps_wide_parameters() const { return parameter_element() > element(); }
  /// Bytes of a parameter as ranks gather it, and of its gradient as a pass makes it: autocast
  /// narrows behind the gather, FSDP's MixedPrecision before it.
  double gathered_element() const { return autocast ? parameter_element() : element(); }
  /// Bytes of a gradient as the optimizer finds it: wide parameters have gradients of their type.
  double kept_gradient_element() const {
    const double reduced = bytes_per_element(gradients);
    return keeps_wide_parameters() ? std::max(reduced, parameter_element()) : reduced;
  }
  /// What is said of muon, or its defaults.
  Muon muon_keys() const { return muon.value_or(Muon{}); }
  /// What is said of preconditioners, or the optimizer's defaults.
  Preconditioner preconditioner_keys() const {
    return preconditioner.value_or(preset_preconditioner(optimizer));
  }
  /// How operands of linear layers are quantised, where precision says that they are.
  Quantisation quantisation() const { return quantisation_of(precision, fp8_scaling); }
  /// Which ranks agree on scales; none where no scale comes from earlier steps.
  AmaxReduction amax_reduction() const {
    const bool delayed = precision == Precision::fp8 && fp8_scaling == Fp8Scaling::delayed;
    return delayed ? reduce_amax.value_or(AmaxReduction::all) : AmaxReduction::none;
  }
  /// Whether even the first micro-batch finds gradients of an operation's tensor to add to.
  bool finds_gradients() const {
    return used_gradients == UsedGradients::clear_tensors || used_gradients == UsedGradients::keep;
  }
  bool operator==(const Training&) const = default;
};

}  // namespace stepsim
