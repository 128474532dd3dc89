// Counts products and bytes of preconditioned updates.
#include "sim/plan/program/preconditioning.hpp"

#include <algorithm>

#include "sim/plan/optimizer_rule.hpp"

namespace stepsim {
namespace {

double squared(std::int64_t side) { return static_cast<double>(side) * static_cast<double>(side); }

MemoryBound moving(double elements) { return {Bytes{kFp32 * elements}, MemoryRate::elementwise}; }

class Update {
 public:
  Update(const PreconditionedBlock& block, const Preconditioner& keys, MatrixUpdate update)
      : block_(block), keys_(keys), update_(update) {}

  Preconditioning all() {
    const bool turns = update_ == MatrixUpdate::eigenbases;
    if (block_.left) collect(block_.rows, block_.columns, block_.right);
    if (block_.right) collect(block_.columns, block_.rows, block_.left);
    if (turns) {
      turn(result_.before, "turn momentum back");
      turn(result_.before, "turn momentum");
      turn(result_.before, "turn gradient");
      turn(result_.after, "turn step back");
    } else {
      turn(result_.after, "precondition");
    }
    for (const std::int64_t side :
         {block_.left ? block_.rows : 0, block_.right ? block_.columns : 0})
      if (side > 0) renew(side);
    // Second moments follow their sorted columns.
    if (turns && (block_.left || block_.right)) renew_by(moving(2 * elements()));
    return std::move(result_);
  }

 private:
  double elements() const {
    return static_cast<double>(block_.rows) * static_cast<double>(block_.columns);
  }
  Gemm product(std::int64_t m, std::int64_t n, std::int64_t k) const {
    return {.m = m, .n = n, .k = k, .precision = keys_.precision};
  }

  /// Statistics of a side: read the product, add it.
  void collect(std::int64_t side, std::int64_t other, bool other_has) {
    auto& works = result_.before;
    if (keys_.kl_statistics && other_has) {
      works.push_back({"weigh basis", moving(2 * squared(other))});
      works.push_back({"inverse", product(other, other, other)});
      works.push_back({"weigh gradient", product(side, other, other)});
    }
    works.push_back({"statistics", product(side, side, other)});
    works.push_back({"average statistics", moving(3 * squared(side))});
  }

  void turn(std::vector<NamedWork>& works, const char* name) const {
    if (block_.left) works.push_back({name, product(block_.rows, block_.columns, block_.rows)});
    if (block_.right) works.push_back({name, product(block_.rows, block_.columns, block_.columns)});
  }

  void renew(std::int64_t side) {
    const auto d = static_cast<double>(side);
    renew_by(product(side, side, side));
    if (update_ == MatrixUpdate::eigenbases) {
      renew_by(product(side, side, side));
      renew_by(moving(2 * squared(side)));  // the diagonal of Q' L Q
      renew_by(moving(2 * squared(side)));  // sorted columns
      result_.decomposed += Flops{8.0 / 3 * d * d * d};
    } else {
      renew_by(moving(2 * squared(side)));  // Q diag(...)
      result_.decomposed += Flops{9 * d * d * d};
    }
  }
  void renew_by(Work work) { result_.renewal.push_back(std::move(work)); }

  PreconditionedBlock block_;
  const Preconditioner& keys_;
  MatrixUpdate update_;
  Preconditioning result_;
};

/// Parts of a side that are at most so long.
std::vector<std::int64_t> cut(std::int64_t side, std::int64_t longest) {
  std::vector<std::int64_t> parts;
  for (std::int64_t left = side; left > 0; left -= parts.back())
    parts.push_back(longest > 0 ? std::min(left, longest) : left);
  return parts;
}

}  // namespace

double PreconditionedBlock::statistics() const {
  return 2 * ((left ? squared(rows) : 0) + (right ? squared(columns) : 0));
}

std::vector<PreconditionedBlock> preconditioned_blocks(const WeightMatrix& matrix,
                                                       const Preconditioner& keys,
                                                       MatrixUpdate update) {
  const std::int64_t longest = keys.largest_side;
  if (update == MatrixUpdate::eigenbases)
    return {{.rows = matrix.rows,
             .columns = matrix.columns,
             .left = longest == 0 || matrix.rows <= longest,
             .right = longest == 0 || matrix.columns <= longest}};
  std::vector<PreconditionedBlock> blocks;
  for (const std::int64_t rows : cut(matrix.rows, longest)) {
    for (const std::int64_t columns : cut(matrix.columns, longest))
      blocks.push_back({.rows = rows, .columns = columns});
  }
  return blocks;
}

double statistics_of(const WeightMatrix& matrix, const Preconditioner& keys, MatrixUpdate update) {
  double sum = 0;
  for (const PreconditionedBlock& block : preconditioned_blocks(matrix, keys, update))
    sum += block.statistics();
  return sum;
}

Preconditioning preconditioning_of(const PreconditionedBlock& block, const Preconditioner& keys,
                                   MatrixUpdate update) {
  return Update(block, keys, update).all();
}

Bytes preconditioning_bytes(const WeightMatrix& matrix, const Preconditioner& keys,
                            MatrixUpdate update) {
  double most = 0;
  for (const PreconditionedBlock& block : preconditioned_blocks(matrix, keys, update)) {
    const double elements = static_cast<double>(block.rows) * static_cast<double>(block.columns);
    const double side =
        std::max(block.left ? squared(block.rows) : 0, block.right ? squared(block.columns) : 0);
    most = std::max({most, 3 * elements, elements + 3 * side});
  }
  return Bytes{kFp32 * most};
}

}  // namespace stepsim
