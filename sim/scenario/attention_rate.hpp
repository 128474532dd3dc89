// The constants of a fused attention kernel that hold for a width of heads, and the rate that they
// make.
#pragma once

#include <cmath>
#include <string_view>

#include "sim/scenario/gpu.hpp"

namespace stepsim {

/// The kernel's constants for the nearest width of a head; nullptr where the profile has none.
inline const AttentionProfile* nearest_attention(const GpuProfile& gpu, std::string_view kernel,
                                                 double head_dim) {
  const AttentionProfile* nearest = nullptr;
  const auto distance = [&](const AttentionProfile& p) { return std::abs(p.head_dim - head_dim); };
  for (const AttentionProfile& p : gpu.attention) {
    if (p.kernel == kernel && (nearest == nullptr || distance(p) < distance(*nearest)))
      nearest = &p;
  }
  return nearest;
}

/// The rate of a forward pass over so many keys: plateau * s / (s + half_sequence).
inline FlopsPerSecond forward_rate(const AttentionProfile& p, double tokens, bool causal) {
  return causal ? p.plateau * (tokens / (tokens + p.half_sequence))
                : p.full_plateau * (tokens / (tokens + p.full_half_sequence));
}

}  // namespace stepsim
