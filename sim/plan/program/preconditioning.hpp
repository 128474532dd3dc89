// The update of a matrix between two preconditioners, as products.
//
// With a gradient G of m x n, a side that has a preconditioner has statistics L = G G' or R = G' G,
// 2 m^2 n or 2 m n^2 FLOP, and takes as much for each tensor that it is multiplied with.
//
// SOAP turns four tensors in a step: the momentum out of the old eigenbases and into the new ones,
// the gradient into these, and the step of Adam out of them. New bases are Q of the QR of L Q, and
// are sorted by the diagonal of Q' L Q: two products of 2 d^3 and QR with its Q, 8/3 d^3 (Golub and
// Van Loan, Matrix Computations, 5.2). As in nikhilvyas/SOAP soap.py, project, project_back and
// get_orthogonal_matrix_QR, and NVIDIA-NeMo/Emerging-Optimizers
// emerging_optimizers/legacy_soap/soap.py. Statistics after Kullback and Leibler weigh G by the
// inverse of the other side, Q diag(1 / eigenvalues) Q', before they multiply it with itself
// (update_kronecker_factors_kl_shampoo there).
//
// Shampoo turns one tensor. Its roots are eigendecompositions, 9 d^3 (Golub and Van Loan, 8.3), and
// Q diag(eigenvalues^(-1/4)) Q', block by block (facebookresearch/optimizers distributed_shampoo/
// preconditioner/shampoo_preconditioner_list.py).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/ops/work.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/preconditioner.hpp"

namespace stepsim {

struct NamedWork {
  const char* name = "";
  Work work;
};

/// Rows and columns of a block that has preconditioners of its own.
struct PreconditionedBlock {
  std::int64_t rows = 0, columns = 0;
  bool left = true, right = true;  ///< which of its sides have one
  /// Elements of what is kept beside the moments: statistics and bases or roots of both sides.
  double statistics() const;
  bool operator==(const PreconditionedBlock&) const = default;
};

/// SOAP: the matrix; Shampoo: its blocks.
std::vector<PreconditionedBlock> preconditioned_blocks(const WeightMatrix& matrix,
                                                       const Preconditioner& keys,
                                                       MatrixUpdate update);
double statistics_of(const WeightMatrix& matrix, const Preconditioner& keys, MatrixUpdate update);

/// What a block's update does beside its sweeps over moments and weights.
struct Preconditioning {
  std::vector<NamedWork> before;  ///< statistics; of SOAP, tensors that are turned into new bases
  std::vector<NamedWork> after;   ///< what makes the step of them
  std::vector<Work> renewal;      ///< of bases or roots, beside their decompositions
  Flops decomposed;
};
Preconditioning preconditioning_of(const PreconditionedBlock& block, const Preconditioner& keys,
                                   MatrixUpdate update);

/// Bytes of tensors that the update of the largest block holds at once beside its state: three as
/// large as the matrix (gradient, turned gradient, step), or the gradient and three as large as a
/// preconditioner (L Q, its Q and R), in fp32.
Bytes preconditioning_bytes(const WeightMatrix& matrix, const Preconditioner& keys,
                            MatrixUpdate update);

}  // namespace stepsim
