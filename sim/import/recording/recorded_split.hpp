// How a recorded rank shares its step with others, by the groups of its collectives.
#pragma once

#include <string>
#include <vector>

#include "sim/import/recording/step_counts.hpp"
#include "sim/recording/kernel_kinds.hpp"

namespace stepsim {

struct RecordedSplit {
  int world = 1;
  bool is_world_known = false;
  int tensor = 1, context = 1, expert = 1, stages = 1;
  int shards = 0;  ///< ranks of the group that reduce-scatters gradients; 0: none does
  // Calls of data-parallel ranks in a step:
  double all_reduces = 0, all_gathers = 0, reduce_scatters = 0;
  double gradients = 0;               ///< elements that a step reduces; 0: not recorded
  double bytes_of_a_gradient = 0;     ///< 0: not recorded
  bool exchanges_among_all = false;   ///< all-to-alls of a group that nobody describes
  bool dispatches = false;            ///< DeepEP's kernels hand tokens to experts
  bool is_megatron = false;           ///< groups have Megatron-LM's descriptions
  std::vector<std::string> unplaced;  ///< groups whose purpose nobody says, in words

  /// Ranks that share the parameters of no other split.
  int data() const { return world / (tensor * context * stages); }
};

/// Groups have the purpose that their description says. One that nobody describes is of
/// data-parallel ranks where all ranks are in it, else `unplaced`. Degrees whose product does not
/// divide the ranks are left out, and said there, too. `ranks` is how many recordings there are.
RecordedSplit split_in(const StepCounts& counts, const KernelKinds& kinds, int ranks);

}  // namespace stepsim
