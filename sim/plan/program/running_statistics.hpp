// What DDP sends before the forward pass of a step: rank 0's running statistics of batch norms.
//
// pytorch/pytorch torch/nn/parallel/distributed.py (_sync_params, broadcast_buffers) and
// torch/csrc/distributed/c10d/comm.cpp (broadcast_coalesced): means and variances, fp32, are
// joined and broadcast, and so are the counts of batches, 8 B each; then each tensor is copied back
// by a kernel of its own, three a norm. On one rank only the broadcasts are missing. The host
// launches all of it before the first kernel of the model, when the GPU has nothing else to do.
#pragma once

#include <vector>

#include "sim/plan/program/rank_rows.hpp"

namespace stepsim {

class RunningStatistics {
 public:
  explicit RunningStatistics(RankRows& rows);

  /// At the start of a step; nothing without `broadcast_buffers`, or where the stage has no norms.
  void write();

 private:
  std::vector<Kernel> joins() const;
  std::vector<Kernel> copies() const;

  RankRows& rows_;
  std::vector<double> channels_;  ///< channels of each norm
  Bytes moments_, counts_;
};

}  // namespace stepsim
