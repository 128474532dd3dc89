// Where each rank stands in the split: which tensor, context and data index it has, which stage.
//
// Ranks are numbered as NVIDIA/Megatron-LM megatron/core/parallel_state.py does (RankGenerator):
// as the digits of a number, the first dimension of `parallelism.order` fastest. Experts have a mesh
// of their own (sim/scenario/expert_mesh.hpp).
#pragma once

#include <vector>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Where a rank stands in the split.
struct RankPlace {
  int tensor = 0, context = 0, data = 0, stage = 0;
  bool operator==(const RankPlace&) const = default;
};

/// The numbering of a scenario's ranks, worked out once for many questions.
class RankOrdering {
 public:
  explicit RankOrdering(const Scenario& scenario);
  RankPlace place_of(int rank) const;
  int rank_at(RankPlace place) const;
  /// The ranks that differ from `place` along that axis only, by index; where the axis does not
  /// number ranks, the one at `place`.
  std::vector<int> along(Axis axis, RankPlace place) const;
  /// `along` of each place of a stage that has index 0 on the axis; by data, then context, then
  /// tensor index.
  std::vector<std::vector<int>> all_along(Axis axis, int stage) const;

 private:
  /// How many indices an axis has that numbers ranks, and where a place keeps its index.
  struct Digit {
    Axis axis;
    int size;
    int RankPlace::*index;
  };
  const Digit* digit_of(Axis axis) const;

  std::vector<Digit> digits_;  ///< fastest first
};

/// How many parts that axis splits into: one of kOrderedAxes.
int degree_of(Axis axis, const Scenario& scenario);

/// The rank at a place, where only few are asked for: each call works the numbering out.
int rank_at(RankPlace place, const Scenario& scenario);

/// All ranks that hold the same dense parameters: every context and data index of that tensor index
/// and stage, in order of rank.
std::vector<int> holders_of(int tensor, int stage, const Scenario& scenario);

}  // namespace stepsim
