// Two passes that run as one: whenever one of them has started an exchange of tokens, the other
// goes on.
//
// After DeepSeek-V3's report (arXiv 2412.19437, section 3.2.1, figure 4) and NVIDIA/Megatron-LM
// megatron/core/models/common/model_chunk_schedule_plan.py, TransformerLayerSchedulePlan.run. The
// backward pass begins, for its first exchange follows almost at once. With one layer of each, F
// forward, B backward, attention with what lies around it, experts' MLPs between two exchanges:
//
//   kernels     attention F | MLP B      | MLP F      | attention B
//   exchanges   combine B   | dispatch F | dispatch B | combine F
//
// A layer without experts runs in one turn. With 4 N components of c each and as many exchanges of
// x each, on N layers, the pair takes 4 N max(c, x), one after the other 4 N (c + x).
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sim/plan/pass/piece.hpp"

namespace stepsim {

/// Pieces of one of the two passes that run before it is the other's turn.
struct Turn {
  std::size_t pass = 0;  ///< 0 or 1
  std::size_t begin = 0, end = 0;
  bool operator==(const Turn&) const = default;
};

/// Segments end their turns with a TurnPiece; what one has left when the other is through follows.
std::vector<Turn> take_turns(const std::array<const Segment*, 2>& passes);

}  // namespace stepsim
