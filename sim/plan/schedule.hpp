// Pipeline schedules as values: the order in which a stage runs its forward and backward passes.
#pragma once

#include <string_view>
#include <vector>

namespace stepsim {

struct PipelineShape {
  int stages = 1;
  int micro_batches = 1;
  int chunks = 1;  ///< model chunks per stage
};

/// One pass of one micro-batch through one chunk.
struct Action {
  bool forward = true;
  int micro_batch = 0;
  int chunk = 0;
  bool operator==(const Action&) const = default;
};

struct Schedule {
  std::string_view name;
  std::string_view description;
  bool interleaved;  ///< runs more than one chunk a stage
  std::vector<Action> (*order)(const PipelineShape& shape, int stage);
};

/// The schedule of that name. Throws UserError when there is none.
const Schedule& schedule_of(std::string_view name);

/// Forward passes whose activations a stage holds at the same time, at most, in chunk passes.
int peak_in_flight(const std::vector<Action>& order);

}  // namespace stepsim
