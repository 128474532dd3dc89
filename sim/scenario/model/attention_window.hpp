// Attention that is narrower than its sequence.
#pragma once

#include <cmath>
#include <cstdint>

namespace stepsim {

/// How a layer's attention is narrower than its sequence: each token attends to so many, its own
/// included, or to those of its chunk.
enum class WindowKind { sliding, chunk };
struct AttentionWindow {
  std::int64_t tokens = 0;
  WindowKind kind = WindowKind::sliding;
  std::int64_t full_every = 0;  ///< the last of so many layers attends to all; 0: none does

  /// Whether the layer, counted from 0, is one of those that are narrower.
  bool narrows(std::int64_t layer) const {
    return full_every == 0 || (layer + 1) % full_every != 0;
  }
  /// Patches along a side of the square that a chunk of an image is. REQUIRES: tokens are a square
  /// number.
  std::int64_t edge() const { return std::llround(std::sqrt(static_cast<double>(tokens))); }
  bool operator==(const AttentionWindow&) const = default;
};

}  // namespace stepsim
