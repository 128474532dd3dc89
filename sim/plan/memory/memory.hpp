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

/// Where the bytes of a category lie. PyTorch's counters (torch.cuda.max_memory_allocated) know of
/// tensors only.
enum class MemoryOwner { tensors, allocator, others };

struct MemoryCategory {
  std::string name;  ///< name in reports: "optimizer"
  Bytes bytes;
  MemoryOwner owner = MemoryOwner::tensors;
  bool varies = false;  ///< true: passes take and free it
};

/// Memory of one pipeline stage at its peak, by category; the categories sum to the total.
struct StageMemory {
  int stage = 0;
  std::vector<MemoryCategory> categories;
  PeakMoment peak;
  Bytes total() const;
  /// bytes that tensors take (torch.cuda.max_memory_allocated)
  Bytes allocated() const;
  /// what PyTorch holds of the device (torch.cuda.max_memory_reserved): tensors, and what lies
  /// between them
  Bytes reserved() const;
  Bytes needed() const;  ///< all bytes but those that PyTorch's allocator keeps for later
  Bytes of(MemoryOwner owner) const;
};

/// Bytes of parameters, gradients and optimizer state for each parameter of a rank's share of the
/// model.
struct BytesPerParameter {
  double parameters = 0, gradients = 0, optimizer = 0;
  double total() const { return parameters + gradients + optimizer; }
};
BytesPerParameter bytes_per_parameter(const Training& training, const Sharding& sharding,
                                      int replicas);

/// Parameter elements of one rank of a stage, and the number of ranks among which a copy can be
/// shared out.
struct StageParameters {
  double dense = 0, experts = 0;  ///< experts: only where expert parallelism deals them out
  int replicas = 1, expert_replicas = 1;
  /// Elements in matrices of hidden layers, where the optimizer takes them as such. `all` are among
  /// the stage's elements, `owned` are those that the rank with most of them updates, `padding` fills
  /// shards of whole matrices up, on all ranks together, and `statistics` are what the rank with
  /// most keeps of preconditioners.
  struct OfMatrices {
    double all = 0, owned = 0, padding = 0, statistics = 0;
    OfMatrices& operator+=(const OfMatrices& more);
  };
  OfMatrices matrices{}, expert_matrices{};
  double total() const { return dense + experts; }
  /// Elements that a rank keeps of something that is sharded over the replicas, or is not.
  double kept(bool sharded) const;
  /// Elements of matrices among them.
  double kept_matrices(bool sharded) const;
  double of(bool expert) const { return expert ? experts : dense; }
  const OfMatrices& matrices_of(bool expert) const { return expert ? expert_matrices : matrices; }
  /// Elements that ranks exchange.
  double exchanged(bool expert) const { return of(expert) + matrices_of(expert).padding; }
};
StageParameters stage_parameters(const Scenario& scenario, const OpGraph& graph, int stage);
StageParameters chunk_parameters(const Scenario& scenario, const OpGraph& graph, int stage,
                                 int chunk);

/// Bytes of parameters, gradients and optimizer state of one rank of a stage. Gradients that
/// several micro-batches add up before they are reduced (no_sync) are whole, whatever is sharded.
struct StateBytes {
  double parameters = 0, gradients = 0, optimizer = 0;
  double total() const { return parameters + gradients + optimizer; }
};
StateBytes state_bytes(const Scenario& scenario, const StageParameters& parameters);
/// The state bytes that are on the GPU: not the state of an offloaded optimizer, nor the gradients
/// that have left for it.
StateBytes gpu_state(const Scenario& scenario, const StageParameters& parameters);

/// Bytes of a block's weights that are not trained, whole. Weights that are kept in fp8 alone count
/// among the block's fp8 copies, unless the copies are gathered from shards.
Bytes frozen_bytes(const Scenario& scenario, const Block& block);
/// The share of the frozen weights that one rank keeps.
double frozen_share(const Scenario& scenario);

/// Bytes of a stage's blocks whose parameters ZeRO-3 gathers while a pass runs, and of one block of
/// whole gradients. `blocks`: indices into OpGraph::blocks.
Bytes gathered_bytes(const Scenario& scenario, const OpGraph& graph,
                     const std::vector<std::size_t>& blocks);

/// Bytes that a stage holds all the time: everything but what its passes take and free.
Bytes resident_bytes(const Scenario& scenario, const OpGraph& graph, int stage);

StageMemory memory_of_stage(const Scenario& scenario, const OpGraph& graph, int stage);
/// The memory of each stage at its peak; where its ranks differ, of the rank that needs most.
std::vector<StageMemory> memory_by_stage(const Scenario& scenario, const OpGraph& graph);

}  // namespace stepsim
