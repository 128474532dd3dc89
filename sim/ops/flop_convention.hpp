// How the FLOPs of a training step are counted, as values: papers and frameworks disagree by up to
// a third on the same step.
//
// A convention weighs four tallies of a model: multiply-adds of its layers, of attention (all s^2
// scores), of the logits, and parameters times tokens. Backward counts twice the forward pass in
// all of them, or as much for weights that are frozen; adapters beside these count as trained
// weights do. MFU takes what the convention counts; HFU adds what recompute repeats, weighed the
// same way.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/quantity.hpp"
#include "sim/scenario/model.hpp"

namespace stepsim {

/// What a model computes forward in one step, over all ranks.
struct FlopTally {
  Flops layers;     ///< matrix products with the model's weights, in the layers
  Flops attention;  ///< scores and their products with the values, without a causal mask
  Flops head;       ///< logits
  Flops adapters;   ///< products with what is trained beside frozen weights
  /// all of a vision tower and its projector, forward and, of what has gradients, backward
  Flops tower;
  double tokens = 0;
  bool is_frozen = false;  ///< the model's weights have no gradients
  /// Passes that multiply the model's weights, forward and backward, in units of the first.
  double weight_passes() const { return is_frozen ? 2 : 3; }
};

/// Parameters as conventions count them; of experts only those that a token goes through.
struct ParameterTally {
  double active = 0;     ///< embeddings and head included; tied ones once
  double tokens = 0;     ///< the active parameters that are rows of the token embedding
  double positions = 0;  ///< rows of the position table
  double head = 0;       ///< the logits' weights where they are not the token embedding's
};
ParameterTally parameter_tally(const Model& model);

struct FlopConvention {
  std::string_view name;
  std::string_view description;  ///< with its source
  bool any_model = false;        ///< true: it counts models that are no transformer, too
  bool by_parameters = false;    ///< true: parameters times tokens, which are words
  double attention = 1;          ///< weight of the tally: 1/2 counts the causal half
  /// The model FLOPs of one step, without recompute.
  Flops (*model_flops)(const FlopTally& flops, const ParameterTally& parameters) = nullptr;
};

/// What recompute adds, as the convention weighs it.
Flops recomputed(const FlopConvention& convention, Flops products, Flops attention);

/// Throws UserError for an unknown name, and for a transformer's convention on another model.
const FlopConvention& flop_convention(const std::string& name, const Model& model);

}  // namespace stepsim
