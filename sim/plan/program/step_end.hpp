// The end of a step: what is left to reduce, the gradient norm, the optimizer, and the gathers of
// updated parameters.
#pragma once

#include "sim/plan/memory/memory.hpp"
#include "sim/plan/pass/parameter_group.hpp"
#include "sim/plan/program/matrix_updates.hpp"
#include "sim/plan/program/offload.hpp"
#include "sim/plan/program/rank_rows.hpp"

namespace stepsim {

/// Reduces all of some gradients at once.
class GradientReduction {
 public:
  /// `parameters`: whose gradients.
  GradientReduction(RankRows& rows, const StageParameters& parameters);

  /// Averages what has been computed, and starts. Returns what the next kernel may have to wait
  /// for.
  std::vector<TaskIndex> start();
  /// Copies what was reduced back to where it was computed, where that is another place.
  void unpack();

 private:
  RankRows* rows_;
  StageParameters parameters_;
  double apart_;  ///< gradients that are reduced in fp32 behind the others
};

/// Whether gradients are reduced by themselves, while nothing is computed.
bool reduces_alone(const Scenario& scenario, const StageShape& shape);

/// What is computed next waits for the reductions of gradients that have been started.
void wait_for_reductions(RankRows& rows);

class StepEnd {
 public:
  StepEnd(RankRows& rows, Offload& offload);

  /// Writes all of it but the host's wait for it.
  void write();

 private:
  double elements_to_gather(bool expert) const;
  Bytes bytes_to_gather(bool expert) const;
  void hold_memory(TaskIndex begin);
  double elements_to_quantise(bool beside_forward) const;
  void reduce_embedding();
  void gather_parameters();
  void agree_on_norm();
  void sum_norm(Channel channel);

  RankRows& rows_;
  Offload& offload_;
  const Scenario& scenario_;
  const StageShape& shape_;
  const Sharding& strategy_;
  StageParameters parameters_;
  const std::vector<double> tensors_;    ///< elements of each tensor that is updated
  const std::vector<double> gradients_;  ///< elements of each gradient that this rank keeps
  GradientReduction reduction_;
  MatrixUpdates matrices_;
};

}  // namespace stepsim
