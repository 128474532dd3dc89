// Which data-parallel rank updates which matrices of hidden layers, where the optimizer takes them
// whole.
//
// A sharded optimizer is layer-wise: no shard cuts a matrix. Those of a bucket are dealt out by
// what their products cost, the heaviest first, each to the rank that has least to do, as long as
// no rank gets too many elements; shards are padded to the largest one of a bucket
// (NVIDIA/Megatron-LM megatron/core/optimizer/layer_wise_optimizer.py,
// _compute_per_buffer_param_layout). Or ranks take matrices in turn (KellerJordan/modded-nanogpt,
// Muon of October 2024), each goes to the rank with least, or each rank updates all.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

using Matrices = std::vector<const WeightMatrix*>;

/// What products of a matrix cost, in units of a few FLOP: the larger side times the square of the
/// smaller one, as Newton and Schulz's, by which all owners of a sharded optimizer are found.
double product_cost(const WeightMatrix& matrix);

double elements_of(const Matrices& matrices);

/// Matrices by rank.
struct DealtMatrices {
  std::vector<Matrices> owned;  ///< by rank
  double exchanged = 0;         ///< elements of all shards, with padding
  /// The rank whose products cost most.
  const Matrices& heaviest() const;
  /// Elements of the rank that has most of them.
  double most_elements() const;
};

/// Layer-wise shards. `backward`: in the order in which gradients are completed. A bucket ends when
/// it has `bucket` elements, and enough for the largest matrix of it on each rank.
DealtMatrices pack_matrices(const Matrices& backward, int ranks,
                            double bucket = std::numeric_limits<double>::infinity());
/// Each matrix goes to the rank behind the one that has the matrix before it.
DealtMatrices deal_in_turn(const Matrices& forward, int ranks);
/// Each matrix, the largest first, goes to the rank with least elements (facebookresearch/optimizers distributed_shampoo/utils/shampoo_utils.py,
/// distribute_buffer_sizes, which deals out blocks of matrices).
DealtMatrices deal_greedily(Matrices matrices, int ranks);

/// Matrices of hidden layers of these blocks that all data ranks hold, or of experts that only some
/// do, in the order of forward passes. None where the optimizer does not update them as such.
Matrices matrices_of(const Scenario& scenario, const OpGraph& graph,
                     const std::vector<std::size_t>& blocks, bool expert);

/// Whether ranks take matrices in turn, and sum updates of all of them.
bool sums_updates(const Scenario& scenario);

/// How `ranks` that hold these blocks deal their matrices out. `bucketed`: gradients are reduced in
/// buckets, not all at once.
DealtMatrices owners_of(const Scenario& scenario, const OpGraph& graph,
                        const std::vector<std::size_t>& blocks, bool expert, int ranks,
                        bool bucketed);

/// How many times as many elements as they have ranks exchange of the parameters of these blocks:
/// more than once where shards of whole matrices are padded. [0]: dense parameters, [1]: experts'.
std::array<double, 2> exchanged_times(const Scenario& scenario, const OpGraph& graph,
                                      const std::vector<std::size_t>& blocks, bool bucketed);

/// Whether the gradients of that chunk are reduced in buckets.
bool reduces_in_buckets(const Scenario& scenario, int stage, int chunk);

}  // namespace stepsim
