// The update of matrices of hidden layers that the optimizer takes whole: momentum, products,
// exchanges with tensor ranks, and what is added to the weights.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/plan/matrix_owners.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/program/newton_schulz.hpp"
#include "sim/plan/program/rank_rows.hpp"

namespace stepsim {

/// Nothing where the optimizer knows no matrices. Each data rank does what the one with most
/// products has to: the others wait for it, in the gather of parameters or in the sum of updates.
class MatrixUpdates {
 public:
  /// `parameters`: of the rank's stage.
  MatrixUpdates(RankRows& rows, const StageParameters& parameters);

  void write();

 private:
  void collect();
  void update(const WeightMatrix& matrix, bool expert);
  void orthogonalise(std::int64_t rows, std::int64_t columns, const WeightMatrix& matrix);
  void iterate(const IteratedMatrix& x, const Channel* summed);
  void sum_updates(bool expert);
  void exchange(Channel channel, CollectiveOp op, Bytes bytes);
  void sweep_over(const UpdateSweep& sweep, double elements);
  void move(const std::string& name, double bytes, MemoryRate rate = MemoryRate::elementwise);
  void multiply(const char* name, const Gemm& product);
  void flush();

  RankRows& rows_;
  const Training& training_;
  const Muon muon_;
  const StageParameters parameters_;
  bool sums_updates_ = false;                                ///< ranks take matrices in turn
  std::vector<std::pair<const WeightMatrix*, bool>> owned_;  ///< with whether of an expert
  std::vector<Kernel> kernels_;                              ///< not written yet
};

}  // namespace stepsim
