// Peak memory of each pipeline stage, from the plan's own view of what is alive.
//
// Parameters, gradients and optimizer state: Rajbhandari et al. 2020, section 3 (16 bytes a
// parameter with Adam in mixed precision). Activations: Korthikanti et al. 2022, section 4, for the
// passes that the schedule holds in flight, and the working set of the pass that runs
// (memory_walk.hpp). Buffers of libraries and communication: memory_buffers.hpp.
#pragma once

#include <string>
#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/memory/memory_walk.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Where a category's bytes lie. PyTorch's counters (torch.cuda.max_memory_allocated) know of
/// tensors only.
enum class MemoryOwner { tensors, allocator, others };

struct MemoryCategory {
  std::string name;  ///< "optimizer"
  Bytes bytes;
  MemoryOwner owner = MemoryOwner::tensors;
  bool varies = false;  ///< taken and freed by passes
};

/// Memory of one pipeline stage at its peak, by category; the categories sum to the total.
struct StageMemory {
  int stage = 0;
  std::vector<MemoryCategory> categories;
  PeakMoment peak;
  Bytes total() const;
  Bytes allocated() const;  ///< by tensors
  Bytes needed() const;     ///< all but what PyTorch's allocator keeps for later
  Bytes of(MemoryOwner owner) const;
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
/// Of it, what is on the GPU: not the state of an offloaded optimizer, nor the gradients that have
/// left for it.
StateBytes gpu_state(const Scenario& scenario, const StageParameters& parameters);

/// A block's weights that are not trained, whole. Those that are kept in fp8 alone are among its
/// fp8 copies, unless these are gathered of shards.
Bytes frozen_bytes(const Scenario& scenario, const Block& block);
/// What a rank has of them.
double frozen_share(const Scenario& scenario);

/// Blocks whose parameters are gathered while a pass runs, and one block of whole gradients:
/// ZeRO 3.
Bytes gathered_bytes(const Scenario& scenario, const OpGraph& graph);

/// What a stage holds all the time: everything but what its passes take and free.
Bytes resident_bytes(const Scenario& scenario, const OpGraph& graph, int stage);

StageMemory memory_of_stage(const Scenario& scenario, const OpGraph& graph, int stage);
/// Of the rank that needs most, where they are not alike.
std::vector<StageMemory> memory_by_stage(const Scenario& scenario, const OpGraph& graph);

}  // namespace stepsim
