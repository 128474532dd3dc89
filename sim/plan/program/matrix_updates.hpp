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
#include "sim/plan/program/preconditioning.hpp"
#include "sim/plan/program/rank_rows.hpp"

namespace stepsim {

/// Nothing where the optimizer knows no matrices. Each data rank does what the one with most
/// products has to: the others wait for it, in the gather of parameters, or in the sum or gather of
/// updates.
class MatrixUpdates {
 public:
  /// `parameters`: of the rank's stage.
  MatrixUpdates(RankRows& rows, const StageParameters& parameters);

  void write();

 private:
  void collect();
  void update(const WeightMatrix& matrix, bool expert);
  void multiply_momentum(const WeightMatrix& matrix);
  void multiply(const std::vector<NamedWork>& works);
  void renew(const Preconditioning& block);
  void orthogonalise(std::int64_t rows, std::int64_t columns, const WeightMatrix& matrix);
  void iterate(const IteratedMatrix& x, const Channel* summed);
  void sum_updates(bool expert);
  void gather_updates(bool expert);
  void add_updates(double elements);
  void exchange(Channel channel, CollectiveOp op, Bytes bytes);
  void sweep_over(const UpdateSweep& sweep, double elements);
  void move(const std::string& name, double bytes, MemoryRate rate = MemoryRate::elementwise);
  void multiply(const char* name, const Gemm& product);
  void flush();

  RankRows& rows_;
  const Training& training_;
  const MatrixUpdate kind_;
  const Muon muon_;
  const Preconditioner preconditioner_;
  const StageParameters parameters_;
  UpdateOwners owners_ = UpdateOwners::all;  ///< those of a sharded optimizer are all
  std::vector<std::pair<const WeightMatrix*, bool>> owned_;  ///< with whether of an expert
  std::vector<Kernel> kernels_;                              ///< not written yet
};

}  // namespace stepsim
