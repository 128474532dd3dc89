// The layers of recommendation models: each function returns one op of one data-parallel rank.
//
// Tables are dealt to the data-parallel ranks, whole or by rows. Each rank reads the indices of its
// own tables for the samples of all ranks (NVIDIA/DeepLearningExamples
// PyTorch/Recommendation/DLRM, facebookresearch/dlrm), so that vectors travel and indices do not.
#pragma once

#include <cstdint>

#include "sim/ops/layer/layers.hpp"

namespace stepsim {

/// How a model's tables lie on its ranks, and what the busiest of them does for a micro-batch of
/// all ranks together. Others wait for it where vectors are exchanged.
struct TableShare {
  TableShare(const Dlrm& model, const Pass& pass, const Parallelism& split);

  bool by_row = false;
  bool first = false;    ///< rank 0 alone has the bottom MLP, whose vectors it exchanges, too
  bool on_first = true;  ///< true: rank 0 has tables beside the bottom MLP
  std::int64_t ranks = 1;
  double samples = 0;   ///< samples of all ranks
  double lookups = 0;   ///< rows that it reads
  double vectors = 0;   ///< vectors that it makes of the rows: sums of rows, or parts of such sums
  double elements = 0;  ///< elements of the tables that it holds
  double sent = 0;      ///< vectors of the rank that exchanges most of them
};

/// Starts the exchange of the vectors, or backward of their gradients; nothing on one rank.
void start_vectors(Items& items, const Pass& pass, const Dlrm& model, const TableShare& share,
                   bool backward);

/// Sums of looked-up rows, sent to the ranks of their samples. Backward receives their gradients
/// and updates the rows at once, by plain SGD (a fused sparse update). Forward starts the exchange
/// and backward waits for it: the interaction waits and starts.
Op embedding_bag(const Pass& pass, const Dlrm& model, const TableShare& share);

/// Exchanges all vectors at once, forward and backward, with nothing beside it; where rank 0 makes
/// several kinds it joins them before.
Op vector_exchange(const Pass& pass, const Dlrm& model, const TableShare& share, bool joins);

/// Dot products between all pairs of vectors of a sample, and the dense one beside them.
Op dot_interaction(const Pass& pass, const Dlrm& model, const TableShare& share);

/// Sigmoid and binary cross entropy of one output.
Op binary_cross_entropy(const Pass& pass);

}  // namespace stepsim
