// The style of a framework: what it launches for each operation of a layer.
//
// A layer knows shapes, bytes and collectives; which kernels an operation becomes, what its library
// does beside them, and what the host calls for it, it asks the style of its pass. A style is a
// value: facts, and functions that write kernels. One file in this folder is one style; it starts
// from another one and changes what differs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/ops/style/module_calls.hpp"

namespace stepsim {

struct Pass;
struct AttentionShape;

/// Parts of a layer that mixed precision may leave in fp32.
enum class LayerPart { activation, residual, norm, softmax };

/// A pass over the gradients: out of the loss's scale, in search of infinities, or into a norm. The
/// first two are of losses that are scaled, where activations are narrower than fp32.
enum class GradientPass { unscale, check, clip };

/// Kernels that move bytes and not weights, by what they compute.
enum class MovingKernels { elementwise, dropout, norm, softmax };

/// A norm over rows of a tensor.
struct NormShape {
  std::string name;
  double elements = 0;
  double rows = 0;
  bool rms = false;             ///< RMSNorm, else LayerNorm
  bool joins_residual = false;  ///< adds the residual connection's gradient to its own
  bool behind_product = false;  ///< a matrix product, not a kernel of its own kind, made its input
};

/// The kernels of an activation, and what they keep for backward.
struct ActivationKernels {
  Items forward, backward;
  Bytes saved;
};

/// Dropout of so many elements, its gradient, and the bytes that it keeps.
struct DropoutKernels {
  Items (*forward)(const Pass& pass, const std::string& name, double elements);
  Items (*backward)(const Pass& pass, const std::string& name, double elements);
  double (*mask_bytes)(const Pass& pass, double elements);
};

/// Softmax of eager attention alone, without scale, mask and casts; `one`: bytes of the scores.
struct RowSoftmax {
  Items (*forward)(double one, double rows);
  Items (*backward)(double one);
};

/// What a cross entropy moves.
struct LossTraffic {
  double forward = 0, backward = 0, saved = 0;  ///< bytes a logit
  int exchanges = 0;  ///< between ranks that split the vocabulary: one fp32 number a token each
};

struct Style {
  std::string_view name;         ///< word of `training.fusion`
  std::string_view description;  ///< whose kernels

  // Kernels of operations.
  void (*norm)(Op& op, const Pass& pass, const NormShape& shape) = nullptr;
  /// The residual connection's gradient is added by the norm's own kernel.
  bool adds_residual_gradient_in_norm = false;
  /// A residual sum and the norm behind it are one kernel.
  bool joins_residual_and_norm = false;
  /// Bias, dropout and residual sum are one kernel.
  bool joins_bias_and_dropout = true;
  bool has_fusion_switches = false;  ///< `bias_dropout_fusion` and `rope_fusion` are about it
  /// `one`: bytes of the activation's output.
  ActivationKernels (*activation)(const std::string& name, double one, bool gated) = nullptr;
  DropoutKernels dropout{};
  /// From the scores to what multiplies the values, and back, with what is kept of them.
  void (*softmax)(Op& op, const Pass& pass, const AttentionShape& shape) = nullptr;
  RowSoftmax row_softmax{};
  /// Rotary positions of queries and keys.
  void (*rotary)(Items& items, const Pass& pass, const AttentionShape& shape) = nullptr;
  /// Their gradients; nullptr: part of the kernel that joins the gradients.
  void (*rotary_backward)(Items& items, const Pass& pass, const AttentionShape& shape) = nullptr;
  /// `whole`: no other rank has a part of a token's logits.
  LossTraffic (*loss)(CrossEntropy library, double element, bool whole) = nullptr;

  // What else runs beside products.
  bool adds_bias_by_kernel = false;  ///< no product adds a bias
  /// The bias of queries, keys and values is a kernel behind their product where attention is by
  /// this kernel.
  bool (*adds_qkv_bias_behind)(const std::string& attention) = nullptr;  ///< nullptr: never
  bool moves_heads = false;       ///< to the front for unfused attention, and back
  bool strides_products = false;  ///< PyTorch's products on Megatron-LM's layout: see attention.cpp
  bool puts_batch_first = false;  ///< Transformer Engine's attention: see attention.cpp
  bool joins_chains = false;      ///< element-wise kernels behind one another become one
  bool finds_twins = false;       ///< what layers of one input compute alike is computed once
  bool looks_up_by_product = false;  ///< rows of tables: one-hot vectors times the table
  bool scatters_products = false;    ///< ZeRO 3 scatters gradients as products put them out
  bool copies_for_loop = false;      ///< what a loop over layers gathers for its next iteration
  bool keeps_placeholders = false;   ///< linear layers keep an empty gradient for each shape
  bool hands_on_gathered = false;    ///< a linear layer hands its gathered input to its adapter
  bool quantises_in_norms = false;   ///< a norm and the linear layer behind it are one module

  // Types, gradients, and kernels of old libraries.
  std::vector<LayerPart> fp32_parts = {};  ///< work in fp32 where activations are narrower
  /// Passes over each micro-batch's gradients before they are added to those that are there.
  std::vector<GradientPass> gradient_passes = {};
  std::vector<MovingKernels> scalar_loads = {};  ///< load 16-bit tensors one element at a time

  // The optimizer.
  /// A fused update reads narrow gradients, scales them back and writes narrow weights.
  bool casts_in_update = false;
  /// Batch norms stay fp32 where gradients are narrower: theirs are reduced by themselves where
  /// nothing overlaps.
  bool reduces_batch_norms_apart = false;

  // The host.
  ModuleCalls modules{};
  int engine_linears = 0;  ///< of each linear module, those that take what Transformer Engine's do

  // What the scenario states.
  CrossEntropy cross_entropy = CrossEntropy::megatron;
  int loss_metrics = 0;   ///< losses computed again to be reported
  bool fused_qkv = true;  ///< queries, keys and values by one linear layer

  /// What changes where linear modules are Transformer Engine's, besides what does in any style;
  /// nullptr: nothing.
  void (*with_engine)(Style& style) = nullptr;

  // What `explain` tries in its place; empty: nothing.
  std::string_view fuses_to = {};     ///< hand-written kernels
  std::string_view compiles_to = {};  ///< a compiler of modules; its own name: it is that

  /// The type that a part of a layer works in where activations have this one.
  Precision type_of(LayerPart part, Precision activations) const;
  HostCalls linear_calls() const;
  /// Queries, keys and values together.
  HostCalls query_key_value_calls() const;
};

/// Styles that others start from.
Style eager_style();
Style fused_style();
Style compiled_style();
Style xla_style();

/// The style that `training.fusion` names. Throws UserError where nobody has registered it.
const Style& named_style(const Training& training);
/// The style that `training.fusion` names, changed by what the scenario states beside it: its
/// attention, its linear modules, its cross entropy. Throws as named_style() does.
Style style_of(const Training& training);
/// What its modules call on the host.
ModuleCalls modules_of(const Training& training);

}  // namespace stepsim
