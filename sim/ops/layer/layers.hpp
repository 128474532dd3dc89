// The layers that models are made of: each function returns one op for one tensor-parallel rank.
//
// Byte counts are compulsory reads and writes of each kernel as frameworks launch them: each layer
// says which, for each of the three kinds of fusion. `none` is eager PyTorch with explicit casts,
// as in huggingface/transformers and in NVIDIA/Megatron-LM with its fusions switched off; `fused`
// are Megatron-LM's kernels; `compiled` are those that torch.compile makes of a layer
// (pytorch/pytorch torch/_inductor: chains of element-wise operations and a reduction over rows
// become one kernel between matrix products); `xla` are those that XLA makes on a GPU without its
// softmax fusion (openxla/xla xla/service/gpu: a fusion may end in a reduction over rows, and what
// needs its result is another kernel, which reads the inputs again; products, and norms, softmax
// and attention of a library, are calls with which nothing is fused). Saved activations follow
// Korthikanti et al. 2022 (arXiv 2205.05198), section 4.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/ops/op_graph.hpp"

namespace stepsim {

/// What a layer must know about the pass it is part of.
struct Pass {
  std::int64_t batch = 1;     ///< sequences (or samples) per micro-batch
  std::int64_t sequence = 1;  ///< tokens per sequence on this rank; 1 for feature vectors
  std::int64_t context = 1;   ///< ranks that share each sequence
  ContextKind context_kind = ContextKind::ring;
  std::int64_t tensor = 1;  ///< tensor-parallel degree
  bool sequence_parallel = false;
  bool overlap_tensor = true;  ///< hide backward collectives under weight-gradient GEMMs
  bool copies_shards = false;  ///< tensors are copied after gathers and before scatters (DTensor)
  bool gathered = false;  ///< another layer gathers the input, and sums its gradient over ranks
  Fusion fusion = Fusion::fused;
  Precision precision = Precision::bf16;  ///< of activations, attention and logits
  Precision linear = Precision::bf16;     ///< of the linear layers' products
  Fp8Scaling fp8_scaling = Fp8Scaling::delayed;
  int fp8_copies = 2;           ///< of a quantised tensor: by rows, and by columns
  bool recast_weights = false;  ///< weights are quantised in each pass, not once a step
  bool gathers_fp8 = false;     ///< they come quantised, by rows, in each pass
  Precision gradients = Precision::bf16;
  bool adds_gradients = false;           ///< kernels add to those that are there already
  std::int64_t vocabulary_multiple = 1;  ///< rows of it on each tensor rank are padded to
  std::vector<ComposedOperation> composed;
  std::vector<LayerPart> fp32_parts;
  std::vector<GradientPass> gradient_passes;  ///< over each micro-batch's, before they are added
  std::int64_t expert = 1;                    ///< ranks that the experts are dealt to
  std::optional<double> capacity;  ///< of an expert over its fair share of tokens; none: dropless
  double imbalance = 1;            ///< dropless: tokens of the busiest rank over the average
  Dispatcher dispatcher = Dispatcher::all_to_all;
  std::optional<int> expert_nodes;  ///< deepep: that have experts of one token, at most
  int nodes_of_experts = 1;         ///< that the ranks of the experts lie on, where that limits
  bool fp8_dispatch = false;
  bool keeps_placeholders = false;  ///< linear layers keep one empty gradient for each shape
  std::int64_t replicas = 1;        ///< data-parallel ranks
  bool fused_qkv = true;            ///< queries, keys and values by one linear layer
  EmbeddingLookup lookup = EmbeddingLookup::index;
  CrossEntropy loss = CrossEntropy::megatron;
  bool bias_dropout_fusion = true;    ///< bias, dropout and residual are one kernel
  bool eager_loss = false;            ///< the loss is not compiled
  int loss_metrics = 0;               ///< losses computed again to be reported
  bool megatron = true;               ///< layers are written as Megatron-LM's, for the host
  bool transformer_engine = false;    ///< whose linear modules they have, for the host
  bool aligned_tensor_cores = false;  ///< they take rows of multiples of 16 B only: old cuBLAS
  bool pads_rows = false;             ///< matrices are padded to aligned rows, whatever their width
  bool gathers_parameters = false;    ///< ZeRO 3, which counts the gradients of a block itself
  bool gathers_each = false;          ///< linear layers of one input gather it for themselves
  bool frozen = false;                ///< weights have no gradients
  bool transposes_weights = false;    ///< those in fp8, for each gradient of their inputs
  bool adapted = false;               ///< an adapter reads the linear layer's input, too

  std::int64_t tokens() const { return batch * sequence; }
  std::int64_t whole_sequence() const { return sequence * context; }
  /// Whether a linear layer hands on the input that it has gathered, which therefore is not
  /// quantised before that (NVIDIA/TransformerEngine transformer_engine/pytorch/module/
  /// layernorm_linear.py, return_layernorm_output_gathered).
  bool gathers_for_adapter() const {
    return adapted && transformer_engine && sequence_parallel && tensor > 1;
  }
  /// Tokens of this rank outside tensor-parallel regions.
  std::int64_t outer_tokens() const { return sequence_parallel ? tokens() / tensor : tokens(); }
  double element() const { return bytes_per_element(precision); }
  /// Whether a compiler makes the element-wise kernels.
  bool is_compiled() const { return fusion == Fusion::compiled || fusion == Fusion::xla; }
  /// Whether XLA makes norms and softmax: not where a library's kernels are called for them.
  bool reduces_by_xla() const { return fusion == Fusion::xla && !transformer_engine; }
  /// Bytes an element of a cast to fp32, or from it; 0 where that is no kernel.
  double cast() const { return element() < 4 ? element() + 4 : 0; }
  /// Whether a part works in fp32 though activations are narrower.
  bool in_fp32(LayerPart part) const {
    return element() < 4 && std::ranges::find(fp32_parts, part) != fp32_parts.end();
  }
  /// Whether an operation has a kernel for each of those that it is written in.
  bool composes(ComposedOperation operation) const {
    return std::ranges::find(composed, operation) != composed.end();
  }
  /// The same with activations in fp32, for ops without products.
  Pass widened() const {
    Pass wide = *this;
    wide.precision = Precision::fp32;
    return wide;
  }
  bool quantises() const { return linear == Precision::fp8; }
  /// Of an operand of a linear layer, with its share of a block's scale.
  double linear_element() const {
    return quantises() ? fp8_bytes(fp8_scaling) : bytes_per_element(linear);
  }
  /// The whole activation of that width, as collectives move it.
  Bytes activation(std::int64_t width) const {
    return Bytes{element() * static_cast<double>(tokens() * width)};
  }
};

/// An op that was made for fp32 tensors, in a 16-bit pass: so many elements that enter it and that
/// leave it are cast, and so are their gradients (tensorflow/tensorflow
/// tensorflow/core/grappler/optimizers/auto_mixed_precision_lists.h and NVIDIA/DeepLearningExamples
/// TensorFlow2/LanguageModeling/BERT/official/nlp/modeling/layers/transformer.py).
Op between_casts(Op op, const Pass& pass, double entering, double leaving);

/// LayerNorm or RMSNorm over `hidden`. `branches`: a residual connection leaves before it, or
/// behind it where norms follow the sums, whose gradient is added backward.
Op norm(const Pass& pass, const std::string& name, std::int64_t hidden, bool rms, bool bias = true,
        bool branches = true);

/// Where a GEMM does not add to the gradients of earlier micro-batches itself: reads what it wrote,
/// reads and writes the sum (NVIDIA/Megatron-LM v2.5 megatron/model/distributed.py:
/// param.main_grad.add_(param.grad.data)).
void add_gradient_sum(Items& items, const Pass& pass, const std::string& name, double elements);

/// What is done to a micro-batch's gradients of so many elements before they are added, one kernel
/// an operation, on tensors as wide as gradients are kept (NVIDIA/DeepLearningExamples
/// TensorFlow/LanguageModeling/BERT/optimization.py: LossScaleOptimizer, is_finite,
/// clip_by_global_norm, assign_add).
void add_gradient_passes(Items& items, const Pass& pass, const std::string& name, double elements);

/// A linear layer whose outputs are split over tensor ranks: `out` is this rank's share. `layers`:
/// of one input, whose products are one here.
Op column_linear(const Pass& pass, const std::string& name, std::int64_t in, std::int64_t out,
                 bool bias, int layers = 1);

/// A linear layer whose inputs are split over tensor ranks: `in` is this rank's share.
Op row_linear(const Pass& pass, const std::string& name, std::int64_t in, std::int64_t out,
              bool bias);

/// A linear layer that every tensor rank holds whole and runs on its own tokens; without sequence
/// parallelism these are the same tokens, which count once. `saves_input`: its input is not kept by
/// another layer already.
Op replicated_linear(const Pass& pass, const std::string& name, std::int64_t in, std::int64_t out,
                     bool saves_input, bool bias = false);

/// Dimensions of attention on one tensor rank.
struct AttentionShape {
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
  bool rotary = false, dropout = false;
  std::string kernel;          ///< "unfused", "eager" or a fused kernel of the GPU's profile
  std::int64_t value_dim = 0;  ///< of a head's values; 0: head_dim
  bool causal = true;          ///< a token attends to those before it only
  bool bias = false;           ///< a learned bias on the scores, shared by all layers (T5)
  bool alibi = false;          ///< a constant one, of one slope a head (ALiBi)
  std::int64_t keys = 0;       ///< tokens of another sequence that is attended to; 0: to its own
  std::int64_t values() const { return value_dim > 0 ? value_dim : head_dim; }
};

/// The score matrix QK^T of this rank.
double score_bytes(const Pass& pass, const AttentionShape& shape);
/// From the scores to what multiplies the values, and back; with what it keeps of them.
void add_softmax(Op& op, const Pass& pass, const AttentionShape& shape);
/// Rotary positions of queries and keys, and of their gradients.
void add_rotary(Items& items, const Pass& pass, const AttentionShape& shape);
void add_rotary_backward(Items& items, const Pass& pass, const AttentionShape& shape);

/// The kernels and exchanges of fused attention whose sequence is split over context ranks.
void add_context_attention(Op& op, const Pass& pass, const AttentionShape& shape);

/// A norm over each head of queries and keys (Qwen 3).
Op head_norm(const Pass& pass, const AttentionShape& shape);

/// Rotary positions of latent attention, and its parts joined to queries, keys and values.
/// `heads` is this rank's share.
Op latent_heads(const Pass& pass, const LatentAttention& mla, std::int64_t heads);

/// Scaled dot-product attention: batched GEMMs, masked softmax and dropout, or one fused kernel.
Op core_attention(const Pass& pass, const AttentionShape& shape);

/// The bias on the scores of `heads` that all layers of a stack add (T5): one number for each
/// bucket of distances and head.
Op relative_positions(const Pass& pass, std::int64_t buckets, std::int64_t heads);

/// The activation between the two linear layers of an MLP: GELU or ReLU, or SwiGLU when gated.
/// `width` is this rank's share.
Op activation(const Pass& pass, std::int64_t width, bool gated);

/// The kernels of an activation whose output has `one` bytes, and what they keep for backward.
Items activation_forward(const Pass& pass, const std::string& name, double one, bool gated);
Items activation_backward(const Pass& pass, const std::string& name, double one, bool gated);
Bytes activation_saved(const Pass& pass, double one, bool gated);

/// The kernels of operations that are composed, and of their gradients; `one`: bytes of a tensor.
Items composed_activation(const std::string& name, double one);
Items composed_activation_backward(const std::string& name, double one);
Items composed_norm(const std::string& name, double one);
Items composed_norm_backward(const std::string& name, double one);
Items composed_softmax(const std::string& name, double one);
Items composed_softmax_backward(const std::string& name, double one);

/// Adds these behind the others.
inline void append(Items& items, const Items& more) {
  items.insert(items.end(), more.begin(), more.end());
}

/// Dropout of so many elements, by one kernel or composed, and its gradient.
Items dropout_forward(const Pass& pass, const std::string& name, double elements);
Items dropout_backward(const Pass& pass, const std::string& name, double elements);
/// What dropout keeps: a byte an element, or as composed the mask that multiplies.
double mask_bytes(const Pass& pass, double elements);

/// Adds the residual; with bias and dropout where the model has them.
Op residual(const Pass& pass, const std::string& name, std::int64_t hidden, bool dropout,
            bool bias);

/// The residual's addition and the norm behind it as one compiled kernel, in each direction.
Op residual_norm(const Pass& pass, const std::string& name, std::int64_t hidden, bool dropout,
                 bool residual_bias, bool rms, bool norm_bias);

/// The experts of one layer.
struct ExpertShape {
  std::int64_t hidden = 0;
  const Experts& experts;
  bool gated = false;
};

/// Scores of all experts for this rank's tokens, and the top k.
Op router(const Pass& pass, const ExpertShape& shape);
/// Tokens to the ranks of their experts, in order of expert.
Op dispatch(const Pass& pass, const ExpertShape& shape);
/// The MLPs of this rank's experts, as grouped GEMMs.
Op expert_mlps(const Pass& pass, const ExpertShape& shape);
/// Results back to the ranks of their tokens, and their weighted sums.
Op combine(const Pass& pass, const ExpertShape& shape);

/// Token embedding with its vocabulary split over tensor ranks, learned positions and token types.
Op embedding(const Pass& pass, const Transformer& model);

/// Images as tokens: patches through a linear layer, behind a class token, with learned positions.
Op patch_embedding(const Pass& pass, const Transformer& model);

/// Adds dropout behind `op`, whose output has `hidden` values a token.
void add_dropout(Op& op, const Pass& pass, std::int64_t hidden);

/// Some of the tokens: `tokens` of each sequence are copied, and their gradients put back.
Op select_tokens(const Pass& pass, const std::string& name, std::int64_t hidden,
                 std::int64_t tokens);

/// Cross entropy on logits, by the library that the pass names.
Op output_head(const Pass& pass, const Transformer& model);

/// Cross entropy of one of a few classes for each sequence.
Op class_loss(const Pass& pass, std::int64_t classes);

/// Mean squared error on the output of an MLP stack.
Op squared_error(const Pass& pass, std::int64_t width);

/// Vocabulary rows of one tensor rank, padded to the pass's multiple: Megatron-LM pads all to a
/// multiple of make-vocab-size-divisible-by times the ranks.
std::int64_t vocabulary_rows(const Pass& pass, std::int64_t vocabulary);

/// The pass for a layer that is never quantised: logits, the router.
Pass unquantised(Pass pass);

/// What an fp8 linear layer does before its products (NVIDIA/TransformerEngine): the tensor of so
/// many elements is read, and written by rows and by columns, for the two products that it is in.
/// Nothing where the layer is not fp8.
void add_cast(Items& items, const Pass& pass, const std::string& name, double elements,
              bool is_gathered = false);
/// Weights that are not quantised once a step: those of one pass by rows and by columns; or, where
/// they come in fp8, those that the forward product needs by columns.
void add_weight_cast(Items& items, const Pass& pass, const std::string& name, double elements,
                     bool forward);
/// A product of a linear layer.
Launch linear_gemm(const std::string& name, const Pass& pass, std::int64_t m, std::int64_t n,
                   std::int64_t k, bool weight_gradient = false);

/// Likewise of so many groups, each with weights of its own: those of experts, whose kernels are
/// those of one (NVIDIA/TransformerEngine transformer_engine/common/gemm/cublaslt_gemm.cu,
/// nvte_multi_stream_cublas_gemm).
Launch grouped_gemm(const std::string& name, const Pass& pass, std::int64_t m, std::int64_t n,
                    std::int64_t k, std::int64_t groups, bool weight_gradient = false);

/// Building blocks for kernels.
Launch gemm(const std::string& name, const Pass& pass, std::int64_t m, std::int64_t n,
            std::int64_t k, bool weight_gradient = false, std::int64_t batch = 1);
Launch memory_bound(const std::string& name, double bytes,
                    MemoryRate rate = MemoryRate::elementwise);
/// The memory-bound kernel as one that comes back to so many bytes, in rows of so many.
Launch coming_back(Launch launch, double bytes, double row);
/// The kernel as one that only gradients of parameters need.
Launch for_weights(Launch launch);

}  // namespace stepsim
