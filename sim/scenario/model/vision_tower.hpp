// A vision tower: an encoder of images whose tokens stand among those of a decoder's sequence.
//
// Patches go through a linear layer and the tower's layers; neighbouring patches are merged, and a
// projector of linear layers gives them the decoder's width (LLaVA, arXiv 2304.08485; Qwen2.5-VL,
// arXiv 2502.13923; Gemma 3, arXiv 2503.19786).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/scenario/model/attention_window.hpp"

namespace stepsim {

/// What becomes of a square of patches: one wider vector, or their mean.
enum class PatchMerging { concatenate, average };
/// The norm before the projector, over the width of the tower: none, LayerNorm or RMSNorm.
enum class ProjectorNorm { none, layer, rms };

struct VisionTower {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t ffn = 0;    ///< inner width of the MLP; default: 4 * hidden
  std::int64_t image = 0;  ///< pixels of an edge where all images are equal squares; 0: they differ
  std::int64_t patch = 14;     ///< pixels of a patch's edge
  std::int64_t frames = 1;     ///< pictures that a patch is cut from; of an image as many copies
  std::int64_t channels = 3;   ///< of a pixel
  bool patch_bias = true;      ///< of the linear layer that makes tokens of patches
  bool class_token = false;    ///< one more token an image, which the projector leaves out
  std::int64_t positions = 0;  ///< rows of a learned position table; 0: none
  bool rotary = true;          ///< default: where there is no table
  bool input_norm = false;     ///< before the first layer
  bool output_norm = false;    ///< behind the last layer
  bool gated_mlp = false;
  bool rms_norm = false;
  bool bias = true;                       ///< of the layers' linear layers
  std::optional<AttentionWindow> window;  ///< absent: all patches of an image attend to each other
  std::int64_t merge = 1;                 ///< patches of an edge of the square that becomes a token
  PatchMerging merging = PatchMerging::concatenate;
  ProjectorNorm projector_norm = ProjectorNorm::none;
  /// widths between the projector's linear layers, with an activation behind each; the last layer
  /// ends with the decoder's width
  std::vector<std::int64_t> projector{};
  bool projector_bias = true;

  /// Values of a patch.
  std::int64_t patch_values() const { return frames * patch * patch * channels; }
  /// Width of what enters the projector.
  std::int64_t merged() const {
    return merging == PatchMerging::concatenate ? merge * merge * hidden : hidden;
  }
  bool operator==(const VisionTower&) const = default;
};

/// The images of each sequence of a model with a tower.
struct SequenceImages {
  std::int64_t per_sequence = 1;
  std::int64_t height = 0, width = 0;  ///< pixels; 0: the tower's image
  bool operator==(const SequenceImages&) const = default;
};

/// One image as a tower has it. REQUIRES: the tower or `images` states its size.
struct ImageTokens {
  ImageTokens(const VisionTower& tower, const SequenceImages& images)
      : height(images.height > 0 ? images.height : tower.image),
        width(images.width > 0 ? images.width : tower.image),
        patches(height / tower.patch * (width / tower.patch)),
        tokens(patches + (tower.class_token ? 1 : 0)),
        merged(patches / (tower.merge * tower.merge)) {}
  std::int64_t height, width;  ///< pixels
  std::int64_t patches;
  std::int64_t tokens;  ///< of the tower's layers
  std::int64_t merged;  ///< of the decoder's sequence
};

/// Parts of a model with a tower that may be trained or not.
enum class TowerPart { tower, projector, decoder };

}  // namespace stepsim
