// Peak memory of each pipeline stage, from the plan's own view of what is alive.
//
// Parameters, gradients and optimizer state: Rajbhandari et al. 2020, section 3 (16 bytes a
// parameter with Adam in mixed precision). Activations: Korthikanti et al. 2022, section 4, times
// the passes that the schedule holds in flight.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Peak memory of one pipeline stage, by category; the categories sum to the total.
struct StageMemory {
  int stage = 0;
  std::vector<std::pair<std::string, Bytes>>
      categories;  ///< parameters, gradients, optimizer, activations, ...
  Bytes total() const {
    Bytes sum;
    for (const auto& [name, bytes] : categories) sum += bytes;
    return sum;
  }
};

/// Bytes that parameters, gradients and optimizer state take, per parameter of a rank's share of
/// the model.
struct BytesPerParameter {
  double parameters = 0, gradients = 0, optimizer = 0;
  double total() const { return parameters + gradients + optimizer; }
};
BytesPerParameter bytes_per_parameter(const Training& training, Sharding sharding,
                                      int data_parallel);
/// Of a scenario: gradients that micro-batches add up before they are reduced are whole.
BytesPerParameter bytes_per_parameter(const Scenario& scenario);

/// Parameter elements of one rank of the stage.
double stage_parameters(const Scenario& scenario, const OpGraph& graph, int stage);

/// Activations that one pass of a chunk keeps for its backward.
Bytes pass_activations(const Scenario& scenario, const OpGraph& graph, int stage, int chunk);

/// What a stage holds all the time: everything but activations.
Bytes resident_bytes(const Scenario& scenario, const OpGraph& graph, int stage);

StageMemory memory_of_stage(const Scenario& scenario, const OpGraph& graph, int stage);
std::vector<StageMemory> memory_by_stage(const Scenario& scenario, const OpGraph& graph);

}  // namespace stepsim
