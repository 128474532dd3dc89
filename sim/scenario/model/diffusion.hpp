// A diffusion transformer: latents of images or videos in, the noise of each patch out.
//
// Layers have no causal mask. A vector of each sample, made of its time step and what else it is
// conditioned on, shifts and scales what norms put out and weighs what parts add to the residual
// (adaLN-Zero: Peebles and Xie 2022, arXiv 2212.09748). Text comes from an encoder that is not part
// of the model: layers attend to it (Wan 2.1, arXiv 2503.20314), or it is a second stream of tokens
// with weights of its own (MMDiT: Esser et al. 2024, arXiv 2403.03206).
#pragma once

#include <cstdint>
#include <optional>

namespace stepsim {

/// Where shifts, scales and gates come from: a linear layer in each layer, or one for all layers
/// and a table in each.
enum class Modulation { layer, shared };
/// How text acts on the other tokens: by cross attention, or by attention of both streams together.
enum class TextKind { cross, joint };

/// The text that a sample is conditioned on.
struct DiffusionText {
  std::int64_t width = 0;  ///< of a token as its encoder hands it over
  std::int64_t tokens = 0;
  TextKind kind = TextKind::cross;
  bool mlp =
      false;  ///< two linear layers with an activation bring it to the model's width, not one
  /// joint: last layers that have one stream of all tokens, attention beside the MLP (FLUX)
  std::int64_t single_layers = 0;
  bool operator==(const DiffusionText&) const = default;
};

struct Diffusion {
  std::int64_t patch = 2;          ///< latent pixels of a patch's edge
  std::int64_t frames = 1;         ///< latent frames of a patch
  std::int64_t channels = 4;       ///< of a latent pixel
  std::int64_t outputs = 4;        ///< of a latent pixel; more than channels: variances, too
  std::int64_t frequencies = 256;  ///< numbers that stand for a time step
  std::int64_t classes = 0;        ///< rows of a table of classes; 0: none
  std::int64_t pooled = 0;         ///< width of a vector of the whole text; 0: none
  bool guidance = false;           ///< the strength of guidance is one more input, as the time step
  bool rotary = true;              ///< positions are rotary; false: a table that is not trained
  Modulation modulation = Modulation::layer;
  std::optional<DiffusionText> text;  ///< absent: none

  bool joint() const { return text && text->kind == TextKind::joint; }
  bool cross() const { return text && text->kind == TextKind::cross; }
  std::int64_t pixels() const { return frames * patch * patch; }
  std::int64_t patch_values() const { return pixels() * channels; }
  std::int64_t patch_outputs() const { return pixels() * outputs; }
  bool operator==(const Diffusion&) const = default;
};

}  // namespace stepsim
