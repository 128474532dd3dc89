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
#include "sim/plan/schedule.hpp"
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
BytesPerParameter bytes_per_parameter(const Training& training, Sharding sharding, int replicas);

/// Parameter elements of one rank of a stage, and among how many ranks a copy can be shared out.
struct StageParameters {
  double dense = 0, experts = 0;  ///< experts: only where expert parallelism deals them out
  int replicas = 1, expert_replicas = 1;
  double total() const { return dense + experts; }
  /// What a rank keeps where that is sharded over the replicas.
  double kept(bool sharded) const;
  double of(bool expert) const { return expert ? experts : dense; }
};
StageParameters stage_parameters(const Scenario& scenario, const OpGraph& graph, int stage);
StageParameters chunk_parameters(const Scenario& scenario, const OpGraph& graph, int stage,
                                 int chunk);

/// Parameters, gradients and optimizer state of one rank of a stage. Gradients that micro-batches
/// add up before they are reduced (no_sync) are whole, whatever is sharded.
struct StateBytes {
  double parameters = 0, gradients = 0, optimizer = 0;
  double total() const { return parameters + gradients + optimizer; }
};
StateBytes state_bytes(const Scenario& scenario, const StageParameters& parameters);

/// Activations of one micro-batch in one chunk. After a split backward's first half what its second
/// half needs remains: the inputs of the layers with parameters and the gradients of their outputs
/// (Qi et al. 2023, table 1), recomputed or not.
struct PassMemory {
  Bytes saved;             ///< from the forward pass on
  Bytes kept_for_weights;  ///< from the input gradients to the weight gradients
  /// What the pass takes (at its start) or frees (negative, at its end).
  Bytes change(PassKind pass) const;
};
PassMemory pass_memory(const Scenario& scenario, const OpGraph& graph, int stage, int chunk);

/// What a stage holds all the time: everything but activations.
Bytes resident_bytes(const Scenario& scenario, const OpGraph& graph, int stage);

StageMemory memory_of_stage(const Scenario& scenario, const OpGraph& graph, int stage);
std::vector<StageMemory> memory_by_stage(const Scenario& scenario, const OpGraph& graph);

}  // namespace stepsim
