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

/// Rows of the busiest rank over the average: `imbalance` as stated, or the mean that follows from
/// a `load_variation` v. The n ranks of a mesh have l of E experts each, whose loads are drawn;
/// then 1 + v / sqrt(l) sqrt(E / (E-1)) m(n), at most n, where m(n) is the mean of the largest of n
/// normal draws (core/expected_maximum.hpp). Loads of all experts sum to those of all tokens, so
/// that those of ranks are drawn without replacement, and correlated by -1 / (n-1) (H. A. David and
/// H. N. Nagaraja, Order Statistics, 3rd edition, 2003, section 5.3).
double imbalance_of(const Scenario& scenario);

}  // namespace stepsim
