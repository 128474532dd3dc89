// Newton and Schulz's iteration, which makes a matrix orthogonal, as products.
//
// With X of `inner` rows and `outer` columns a step is A = X X', B = b A + c A A, X = a X + B X
// (NVIDIA-NeMo/Emerging-Optimizers emerging_optimizers/orthogonalized_optimizers/muon_utils.py,
// newton_schulz_step; pytorch/pytorch torch/optim/_muon.py): 4 outer inner^2 + 2 inner^3 FLOP. A
// matrix is turned so that the inner side is the smaller one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/ops/work.hpp"
#include "sim/scenario/muon.hpp"

namespace stepsim {

/// Sides of the matrix that is iterated, on one rank.
struct IteratedMatrix {
  std::int64_t inner = 0, outer = 0;
  double elements() const { return static_cast<double>(inner) * static_cast<double>(outer); }
  double squared() const { return static_cast<double>(inner) * static_cast<double>(inner); }
};

/// The matrix turned.
constexpr IteratedMatrix turned(std::int64_t rows, std::int64_t columns) {
  return {std::min(rows, columns), std::max(rows, columns)};
}

/// Parts of the matrix by rows, at least one, of which each is iterated by itself. Throws
/// InternalError where they are not all of its rows.
inline std::vector<std::int64_t> parts_of(const WeightMatrix& matrix) {
  if (matrix.parts.empty()) return {matrix.rows};
  if (std::accumulate(matrix.parts.begin(), matrix.parts.end(), std::int64_t{0}) != matrix.rows)
    throw InternalError("a matrix has other rows than its parts");
  return matrix.parts;
}

/// What a rank iterates of a matrix that others may have the rest of.
struct Orthogonalised {
  IteratedMatrix matrix;
  bool gathers = false;  ///< the matrix is whole, of what the ranks that split it have
  bool sums = false;     ///< these ranks have other columns, and sum products of them
};

/// `rows` and `columns`: of this rank, of a matrix that so many `ranks` split.
constexpr Orthogonalised orthogonalised(std::int64_t rows, std::int64_t columns, MatrixSplit split,
                                        std::int64_t ranks, const Muon& muon) {
  const bool is_whole = split == MatrixSplit::none || ranks == 1;
  if (is_whole || muon.tensor_mode == MuonTensorMode::blockwise) return {turned(rows, columns)};
  const bool by_rows = split == MatrixSplit::rows;
  if (muon.tensor_mode == MuonTensorMode::distributed)
    return {.matrix = by_rows ? IteratedMatrix{columns, rows} : IteratedMatrix{rows, columns},
            .sums = true};
  return {.matrix = by_rows ? turned(rows * ranks, columns) : turned(rows, columns * ranks),
          .gathers = true};
}

/// The three products of a step, in 16 bits, as PyTorch's precision "medium" of fp32 products has
/// them.
struct SchulzProducts {
  Gemm gram, square, product;
  Flops flops() const { return gram.flops() + square.flops() + product.flops(); }
};

/// `symmetric`: of the first two, whose results are symmetric, a kernel computes one half
/// (triton_kernels.tsyrk_ex of Emerging-Optimizers).
constexpr SchulzProducts schulz_products(const IteratedMatrix& x, bool symmetric) {
  const std::int64_t columns = symmetric ? (x.inner + 1) / 2 : x.inner;
  return {.gram = {.m = x.inner, .n = columns, .k = x.outer},
          .square = {.m = x.inner, .n = columns, .k = x.inner},
          .product = {.m = x.inner, .n = x.outer, .k = x.inner}};
}

}  // namespace stepsim
