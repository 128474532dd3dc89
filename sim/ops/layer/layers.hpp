// The layers that models are made of: each function returns one op for one tensor-parallel rank.
//
// Byte counts are compulsory reads and writes of each kernel as frameworks launch them: a layer
// says which operations there are, the style of the pass (sim/ops/style) which kernels they become.
// Saved activations follow Korthikanti et al. 2022 (arXiv 2205.05198), section 4.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sim/ops/attention_shape.hpp"
#include "sim/ops/kernels.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/ops/pass.hpp"

namespace stepsim {

struct ActivationKernels;

/// An op whose part of the layer works in the type of `own`: so many elements that enter it and
/// that leave it are cast from those of the pass, and so are their gradients; nothing where both
/// have one type (tensorflow/tensorflow
/// tensorflow/core/grappler/optimizers/auto_mixed_precision_lists.h and NVIDIA/DeepLearningExamples
/// TensorFlow2/LanguageModeling/BERT/official/nlp/modeling/layers/transformer.py).
Op between_casts(Op op, const Pass& pass, const Pass& own, double entering, double leaving);

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

/// What a kernel that has whole sequences computes of them where the layer has a window. FlashAttention
/// has windows since its second version; the first computes all and masks it.
void narrow(FusedAttention& attention, const AttentionShape& shape);

/// The kernels and exchanges of fused attention whose sequence is split over context ranks.
void add_context_attention(Op& op, const Pass& pass, const AttentionShape& shape);

/// The mixers of a hybrid model.
using MambaShape = HybridLayers;
/// Width on this rank of what the linear layer before a mixer makes: gate, input, B, C and steps.
std::int64_t mamba_input_width(const Pass& pass, const MambaShape& shape);
/// Convolution, state space and gated norm.
Op mamba_mixer(const Pass& pass, const MambaShape& shape);

/// Width on this rank of what the linear layer before a gated delta net makes: queries, keys,
/// values, gates, and two numbers a head; or queries, keys, values and one number a head where
/// narrow layers make decays and gates.
std::int64_t delta_net_input_width(const Pass& pass, const GatedDeltaNet& shape);
/// Convolution, delta rule and gated norm.
Op gated_delta_net(const Pass& pass, const GatedDeltaNet& shape);

/// A norm over each head of queries and keys (Qwen 3). `wide`: over all heads of all tensor ranks,
/// which gather them (Wan 2.1).
Op head_norm(const Pass& pass, const AttentionShape& shape, bool wide = false);

/// A norm without weights, for what modulates its output takes their place.
Op without_weights(Op norm);
/// Shift and scale of what a norm puts out, by vectors of each sample (adaLN).
Op modulate(const Pass& pass, const std::string& name, std::int64_t hidden);
/// Weighs what a part adds to the residual by a vector of each sample.
Op modulation_gate(const Pass& pass, const std::string& name, std::int64_t hidden);
/// What all layers share of each sample, and to it a row of a table of so many rows.
Op modulation_table(const Pass& pass, const std::string& name, std::int64_t width,
                    std::int64_t rows = 1);
/// Tensors of so many bytes become one, and their gradients are parted again.
Op joined_tensors(const std::string& name, Bytes all);

/// Rotary positions of latent attention, and its parts joined to queries, keys and values.
/// `heads` is this rank's share.
Op latent_heads(const Pass& pass, const LatentAttention& mla, std::int64_t heads);

/// Scaled dot-product attention: batched GEMMs, masked softmax and dropout, or one fused kernel.
Op core_attention(const Pass& pass, const AttentionShape& shape);

/// Sigmoids of the gates weigh the output of attention, as many of each on this rank.
Op attention_gate(const Pass& pass, std::int64_t width);

/// The bias on the scores of `heads` that all layers of a stack add (T5): one number for each
/// bucket of distances and head.
Op relative_positions(const Pass& pass, std::int64_t buckets, std::int64_t heads);

/// Has a gated activation keep its input of so many numbers in fp8, where the pass says so: a cast
/// each way (NVIDIA/Megatron-LM megatron/core/fusions/fused_bias_swiglu.py, fp8_input_store).
void keep_narrow_input(ActivationKernels& kernels, const Pass& pass, double inputs);

/// The activation between the two linear layers of an MLP: GELU or ReLU, or SwiGLU when gated.
/// `width` is this rank's share.
Op activation(const Pass& pass, std::int64_t width, bool gated);

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
/// What the shared experts hand on, weighed by one number a token (Qwen2-MoE).
Op shared_gate(const Pass& pass, std::int64_t hidden);
/// Tokens to the ranks of their experts, in order of expert.
Op dispatch(const Pass& pass, const ExpertShape& shape);
/// The MLPs of this rank's experts, as grouped GEMMs.
Op expert_mlps(const Pass& pass, const ExpertShape& shape);
/// The pass as what stands beside the experts of this rank sees it: their rows are its tokens.
Pass pass_of_rows(const Pass& pass, const ExpertShape& shape);
/// Moves the work of shared experts, in their order, behind the starts of the exchanges in both
/// directions: all but the last of them beside dispatch, the last one beside combine.
void overlap_shared(Op& dispatch, Op& combine, std::span<Op> shared);
/// Moves the experts' gradients of weights behind the start of dispatch's exchange of gradients.
void delay_wgrad(Op& experts, Op& dispatch);
/// Results back to the ranks of their tokens, and their weighted sums.
Op combine(const Pass& pass, const ExpertShape& shape);

/// Token embedding with its vocabulary split over tensor ranks, learned positions and token types.
Op embedding(const Pass& pass, const Transformer& model);

/// How images become tokens.
struct PatchShape {
  std::int64_t patches = 0;  ///< of an image
  std::int64_t values = 0;   ///< of a patch
  std::int64_t hidden = 0;
  std::int64_t positions = 0;  ///< rows of a learned table; 0: none
  bool bias = true;
  bool class_token = true;  ///< before the patches
};
/// Patches through a linear layer, a class token, learned positions.
Op patch_embedding(const Pass& pass, const PatchShape& shape);
/// Squares of neighbouring patches as one wider vector or their mean, without the class token.
Op merge_patches(const Pass& pass, const VisionTower& tower, std::int64_t merged);
/// So many tokens of images take the place of words of each sequence. `trained`: they have
/// gradients.
Op place_images(const Pass& pass, std::int64_t hidden, double tokens, bool trained);

/// Adds dropout behind `op`, whose output has `hidden` values a token.
void add_dropout(Op& op, const Pass& pass, std::int64_t hidden);

/// Some of the tokens: `tokens` of each sequence are copied, and their gradients put back.
Op select_tokens(const Pass& pass, const std::string& name, std::int64_t hidden,
                 std::int64_t tokens);

/// Cross entropy on logits, by the library that the pass names.
Op output_head(const Pass& pass, const Transformer& model);
/// The head's product and the loss, chunk by chunk (training.loss_chunks), of a vocabulary that is
/// not split. `rows`: of the table.
Op chunked_loss(const Pass& pass, const Transformer& model, std::int64_t rows);
/// The head's product and the loss as one operation, of a vocabulary that is not split
/// (takes_product_in). `rows`: of the table.
Op fused_linear_loss(const Pass& pass, std::int64_t hidden, std::int64_t rows);

/// Cross entropy of one of a few classes for each sequence.
Op class_loss(const Pass& pass, std::int64_t classes);

/// Mean squared error on the output of an MLP stack.
Op squared_error(const Pass& pass, std::int64_t width);

/// Vocabulary rows of one tensor rank, padded to the pass's multiple: Megatron-LM pads all to a
/// multiple of make-vocab-size-divisible-by times the ranks.
std::int64_t vocabulary_rows(const Pass& pass, std::int64_t vocabulary);

/// What a linear layer that multiplies in fp8 or nvfp4 does before its products
/// (NVIDIA/TransformerEngine): the tensor of so many elements is read, and written by rows and by
/// columns, for the two products that it is in. Nothing where the layer's type needs no scales.
void add_cast(Items& items, const Pass& pass, const std::string& name, double elements,
              bool is_gathered = false);
/// Weights that are not quantised once a step: those of one pass by rows and by columns; or, where
/// they come quantised, those that the forward product needs by columns.
void add_weight_cast(Items& items, const Pass& pass, const std::string& name, double elements,
                     bool forward);
/// What a product of a linear layer is for.
enum class LinearProduct { forward, input_gradient, weight_gradient };

/// A product of a linear layer. In fp8 the sums of gradients go to fp32 on the way (NVIDIA/
/// TransformerEngine transformer_engine/common/recipe/__init__.py, fp8_gemm_dgrad and
/// fp8_gemm_wgrad; pytorch/ao torchao/float8/config.py; google/flax flax/linen/fp8_ops.py).
Launch linear_gemm(const std::string& name, const Pass& pass, std::int64_t m, std::int64_t n,
                   std::int64_t k, LinearProduct product = LinearProduct::forward);

/// A product of so many groups, each with weights of its own, as one kernel: experts'.
Launch grouped_gemm(const std::string& name, const Pass& pass, std::int64_t m, std::int64_t n,
                    std::int64_t k, std::int64_t groups,
                    LinearProduct product = LinearProduct::forward);

/// A product of activations.
Launch gemm(const std::string& name, const Pass& pass, std::int64_t m, std::int64_t n,
            std::int64_t k, bool weight_gradient = false, std::int64_t batch = 1);

}  // namespace stepsim
