// The ranks of a stage as its experts see them: a mesh of their own over all tensor, context and
// data ranks.
//
// NVIDIA/Megatron-LM megatron/core/parallel_state.py (initialize_model_parallel, its expert
// RankGenerator): the ranks of a stage, in order of rank, are the digits of a number in the order
// of `parallelism.order`, in which experts' tensor ranks stand for tensor ranks, and there are no
// context ranks. Where each expert is split over as many ranks as other layers are, these are the
// tensor ranks themselves, and context and data ranks share the experts.
#pragma once

#include <vector>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

struct ExpertMesh {
  int tensor = 1;           ///< ranks that share each expert
  int degree = 1;           ///< ranks that a layer's experts are dealt to
  int replicas = 1;         ///< ranks of a stage that hold the same part of the same experts
  bool own_tensor = false;  ///< each expert is split over other ranks than other layers are
  /// Whether other ranks hold the same experts than hold the same other parameters.
  bool is_own() const { return degree > 1 || own_tensor; }
};

/// REQUIRES: the experts' ranks divide those of a stage.
ExpertMesh expert_mesh(const Scenario& scenario);

/// The ranks of a stage that hold each part of its experts, [tensor index][expert index], in order
/// of rank. The i-th ranks of all parts together hold all experts, and tokens pass between them.
std::vector<std::vector<std::vector<int>>> expert_holders(const Scenario& scenario, int stage);

}  // namespace stepsim
