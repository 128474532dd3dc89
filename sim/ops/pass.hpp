// What a layer must know of the pass it is part of: shape, precision, split, and the style of the
// framework that runs it.
//
// A pass is these three structs, so that a layer says `pass.tokens()` and `pass.tensor`, and a
// function that needs one of them alone can ask for that one.
#pragma once

#include <cstdint>

#include "sim/core/quantity.hpp"
#include "sim/scenario/expert_mesh.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

struct Style;
enum class LayerPart;

/// How far attention sees in sequences that are packed of documents.
struct PackedKeys {
  double keys = 0;      ///< twice those that a token sees on average under a causal mask
  double document = 0;  ///< tokens of equal documents that take the busiest rank as long; 0: of one
};

/// What passes through a rank at once.
struct PassShape {
  std::int64_t batch = 1;     ///< sequences (or samples) per micro-batch
  std::int64_t sequence = 1;  ///< tokens per sequence on this rank; 1 for feature vectors
  std::int64_t vocabulary_multiple = 1;  ///< each tensor rank's rows are padded to a multiple of it
  bool frozen = false;                   ///< weights have no gradients
  PackedKeys packed;                     ///< in layers that attend to all
  PackedKeys packed_in_windows;          ///< in layers with the model's windows

  std::int64_t tokens() const { return batch * sequence; }
};

/// Types of activations, operands and gradients, and what it takes to change between them.
struct PassPrecision {
  Precision precision = Precision::bf16;  ///< type of activations, attention and logits
  Precision linear = Precision::bf16;     ///< type of the linear layers' products
  Quantisation quantisation = Quantisation::delayed;
  int copies = 2;                  ///< of a quantised tensor: by rows, and by columns
  bool casts_weights = false;      ///< products cast weights that are wider (autocast)
  double wide = 4;                 ///< bytes of such a weight, and of its gradient
  bool recast_weights = false;     ///< weights are quantised in each pass, not once a step
  bool gathers_quantised = false;  ///< weights come quantised, by rows, in each pass
  /// true: fp8 weights are transposed for each gradient of their inputs
  bool transposes_weights = false;
  bool adds_gradients = false;  ///< kernels add to gradients that are there already
  /// bytes of an element of gradients that products add to themselves; 0: they write new ones
  double fused_gradient = 0;
  /// true: tensor cores take rows of multiples of 16 B only (old cuBLAS)
  bool aligned_tensor_cores = false;
  bool fp8_activation_input = false;  ///< gated activations keep their input in fp8
  bool pads_rows = false;             ///< matrices are padded to aligned rows, whatever their width

  double element() const { return bytes_per_element(precision); }
  /// Bytes an element of a cast to fp32, or from it; 0 where activations are fp32.
  double cast() const { return element() < 4 ? element() + 4 : 0; }
  bool quantises() const { return needs_scales(linear); }
  /// Bytes an element of a cast of a weight to what products take, or of its gradient back.
  double weight_cast() const { return element() + wide; }
  /// Bytes of an operand of a linear layer, with its share of a block's scale.
  double linear_element() const {
    return quantises() ? quantised_bytes(quantisation) : bytes_per_element(linear);
  }
};

/// How the model is split over ranks.
struct PassSplit {
  std::int64_t tensor = 1;  ///< tensor-parallel degree
  bool sequence_parallel = false;
  bool overlap_tensor = true;  ///< hide backward collectives under weight-gradient GEMMs
  SplitProducts split_products = SplitProducts::none;  ///< of tensor ranks that split tokens
  bool dtensor = false;  ///< exchanges are DTensor's: partial sums add up before they are reduced
  bool copies_shards = false;  ///< tensors are copied after gathers and before scatters (DTensor)
  bool gathers_each = false;   ///< linear layers of one input gather it for themselves
  ContextParallel context;     ///< ranks that share each sequence
  ExpertParallel experts;      ///< ranks that the experts are dealt to
  bool waits_for_counts = false;    ///< the host waits for the numbers of tokens of experts
  bool megatrons_experts = false;   ///< the layer of experts is Megatron-LM's, with its modules
  bool clamps_apart = false;        ///< what their activation clamps has kernels of its own
  ExpertMesh expert_mesh;           ///< how these lie among the others
  std::int64_t replicas = 1;        ///< data-parallel ranks
  bool gathers_parameters = false;  ///< ZeRO 3, which counts the gradients of a block itself
};

/// What stands around one linear layer.
struct LayerPlace {
  /// true: another layer gathers the input, and sums its gradient over ranks
  bool gathered = false;
  bool adapted = false;             ///< an adapter reads the input, too
  bool keeps_placeholders = false;  ///< its library keeps one empty gradient for each shape
};

struct Pass : PassShape, PassPrecision, PassSplit {
  const Style* style = nullptr;  ///< what the framework launches; never null
  /// keys that layers take as they stand, never null; what follows from several keys has fields
  const Training* training = nullptr;
  LayerPlace place;

  std::int64_t whole_sequence() const { return sequence * context.degree; }
  /// Tokens of this rank outside tensor-parallel regions.
  std::int64_t outer_tokens() const { return sequence_parallel ? tokens() / tensor : tokens(); }
  /// The whole activation of that width, as collectives move it.
  Bytes activation(std::int64_t width) const {
    return Bytes{element() * static_cast<double>(tokens() * width)};
  }
  /// That activation's share of this rank outside tensor-parallel regions.
  Bytes outer_activation(std::int64_t width) const {
    return Bytes{element() * static_cast<double>(outer_tokens() * width)};
  }
  /// The pass as a part of a layer sees it that its style may leave in fp32.
  Pass of(LayerPart part) const;
  /// The pass as the embedding and what residual connections carry between blocks see it: autocast
  /// leaves them the type of the embedding's table.
  Pass carried() const;
  /// Whether tensor ranks gather the input of a linear layer and scatter its gradient.
  bool gathers_tokens() const { return tensor > 1 && sequence_parallel; }
};

/// The pass of a scenario.
Pass pass_of(const Scenario& scenario, const Style& style);

/// The pass for a layer that is never quantised: logits, the router.
Pass unquantised(Pass pass);
/// The pass as casts of activations and of their gradients see it: nothing multiplies these by
/// columns where there is no weight gradient.
Pass of_activations(Pass pass);

}  // namespace stepsim
