// Kernels and exchanges of an update of matrices, one by one.
//
// Muon's is after NVIDIA-NeMo/Emerging-Optimizers
// emerging_optimizers/orthogonalized_optimizers/muon_utils.py, newton_schulz and newton_schulz_tp,
// and NVIDIA/Megatron-LM megatron/core/optimizer/emerging_optimizers.py, TensorParallelMuon. A
// product that adds to another matrix writes into a copy of that one (pytorch/pytorch
// aten/src/ATen/native/cuda/Blas.cpp, addmm_out_cuda_impl). Updates that ranks take in turn:
// KellerJordan/modded-nanogpt, records/ track_1_short/2024-10-17_DistributedMuon, Muon.step. Updates
// that are gathered: facebookresearch/optimizers distributed_shampoo/distributor/
// shampoo_ddp_distributor.py, update_params. Bases and roots that are renewed every few steps take
// each step their share of it, so that a step is the mean of all.
#include "sim/plan/program/matrix_updates.hpp"

#include <numeric>

#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/pass/chains.hpp"
#include "sim/plan/pass/operations.hpp"
#include "sim/plan/pass/parameter_group.hpp"
#include "sim/plan/program/stage_blocks.hpp"

namespace stepsim {
namespace {

constexpr double kBf16 = 2;
constexpr Bytes kNorm{4};  // a squared norm

bool writes_weights(const UpdateSweep& sweep) { return sweep.weights > 1; }

}  // namespace

MatrixUpdates::MatrixUpdates(RankRows& rows, const StageParameters& parameters)
    : rows_(rows),
      training_(rows.draft().scenario.training),
      kind_(optimizer_rule(training_).matrices),
      muon_(training_.muon_keys()),
      preconditioner_(training_.preconditioner_keys()),
      parameters_(parameters) {
  if (updates_matrices(training_)) collect();
}

void MatrixUpdates::collect() {
  const Scenario& scenario = rows_.draft().scenario;
  const OpGraph& graph = rows_.draft().graph;
  const int stage = rows_.shape().stage;
  if (!scenario.parallelism.data.sharding.shards_optimizer) owners_ = update_owners(training_);
  for (int chunk = 0; chunk < scenario.parallelism.pipeline.chunks; ++chunk) {
    const auto blocks = blocks_of(scenario, graph, stage, chunk);
    const bool bucketed = reduces_in_buckets(scenario, stage, chunk);
    for (const bool expert : {false, true}) {
      const int ranks = expert ? parameters_.expert_replicas : parameters_.replicas;
      const DealtMatrices dealt = owners_of(scenario, graph, blocks, expert, ranks, bucketed);
      for (const WeightMatrix* matrix : dealt.heaviest()) owned_.emplace_back(matrix, expert);
    }
  }
}

void MatrixUpdates::write() {
  for (const auto& [matrix, expert] : owned_) update(*matrix, expert);
  flush();
  for (const bool expert : {false, true}) {
    if (owners_ == UpdateOwners::in_turn) sum_updates(expert);
    if (owners_ == UpdateOwners::greedy) gather_updates(expert);
  }
}

/// An owner whose update others add, too, does not touch the weights yet.
void MatrixUpdates::update(const WeightMatrix& matrix, bool expert) {
  const bool shares = owners_ != UpdateOwners::all &&
                      (expert ? parameters_.expert_replicas : parameters_.replicas) > 1;
  const double elements = matrix.elements();
  const auto sweep = [&](bool before) {
    for (const UpdateSweep& each : sweeps_of_matrix(training_)) {
      if ((each.moments > 0) == before && !(shares && writes_weights(each)))
        sweep_over(each, elements);
    }
  };
  std::vector<Preconditioning> blocks;
  if (kind_ != MatrixUpdate::orthogonal) {
    for (const PreconditionedBlock& block : preconditioned_blocks(matrix, preconditioner_, kind_))
      blocks.push_back(preconditioning_of(block, preconditioner_, kind_));
  }
  for (const Preconditioning& block : blocks) {
    multiply(block.before);
    renew(block);
  }
  sweep(true);
  if (kind_ == MatrixUpdate::orthogonal) multiply_momentum(matrix);
  for (const Preconditioning& block : blocks) multiply(block.after);
  sweep(false);
  const double element = owners_ == UpdateOwners::in_turn ? kBf16 : kFp32;
  if (shares) move("update to buffer", 2 * element * elements);
}

void MatrixUpdates::multiply_momentum(const WeightMatrix& matrix) {
  if (muon_.nesterov)
    move("nesterov", (bytes_per_element(training_.gradients) + 2 * kFp32) * matrix.elements(),
         MemoryRate::optimizer);
  for (const std::int64_t rows : parts_of(matrix)) orthogonalise(rows, matrix.columns, matrix);
}

void MatrixUpdates::multiply(const std::vector<NamedWork>& works) {
  for (const NamedWork& each : works)
    kernels_.push_back(timed(rows_.draft(), each.name, each.work, Cause::optimizer));
}

/// One kernel for all, as long as a step's share of them.
void MatrixUpdates::renew(const Preconditioning& block) {
  if (block.renewal.empty()) return;
  Kernel kernel =
      timed(rows_.draft(), "renew preconditioners", block.renewal.front(), Cause::optimizer);
  Seconds sum = block.decomposed / preconditioner_.decomposition_rate;
  for (const Work& work : block.renewal)
    sum += Seconds{timed(rows_.draft(), "renew preconditioners", work, Cause::optimizer).seconds};
  kernel.seconds = sum.seconds() / static_cast<double>(preconditioner_.every);
  kernels_.push_back(kernel);
}

/// Rows of the matrix, of which this rank has a part where tensor ranks split it.
void MatrixUpdates::orthogonalise(std::int64_t rows, std::int64_t columns,
                                  const WeightMatrix& matrix) {
  const Channel channel = channel_along(matrix.axis);
  const Orthogonalised part =
      orthogonalised(rows, columns, matrix.split, rows_.shape().of(channel).ranks, muon_);
  if (part.gathers) {
    exchange(channel, CollectiveOp::all_gather, Bytes{kFp32 * part.matrix.elements()});
    move("join shards", 2 * kFp32 * part.matrix.elements());
  }
  iterate(part.matrix, part.sums ? &channel : nullptr);
}

/// `summed`: the channel of ranks that each have some columns of X, and sum what they multiply.
void MatrixUpdates::iterate(const IteratedMatrix& x, const Channel* summed) {
  move("norm of matrix", kFp32 * x.elements());
  if (summed != nullptr) exchange(*summed, CollectiveOp::all_reduce, kNorm);
  move("normalise", 2 * kFp32 * x.elements());
  move("to 16 bits", (kFp32 + kBf16) * x.elements());
  const SchulzProducts products = schulz_products(x, muon_.symmetric);
  for (std::int64_t step = 0; step < muon_.steps; ++step) {
    multiply("gram", products.gram);
    if (summed != nullptr) exchange(*summed, CollectiveOp::all_reduce, Bytes{kBf16 * x.squared()});
    move("copy of gram", 2 * kBf16 * x.squared());
    multiply("square of gram", products.square);
    move("copy of matrix", 2 * kBf16 * x.elements());
    multiply("orthogonal product", products.product);
  }
  move("to 32 bits", (kBf16 + kFp32) * x.elements());
}

/// The updates of all matrices in one buffer, of which each rank has cleared what is not its own,
/// and what they are added to.
void MatrixUpdates::sum_updates(bool expert) {
  const ParameterGroup group = parameter_groups(rows_.shape())[expert ? 1 : 0];
  const double elements = parameters_.matrices_of(expert).all;
  if (group.shape.ranks == 1 || elements == 0) return;
  move("clear updates", kBf16 * elements);
  exchange(group.reduce, CollectiveOp::all_reduce, Bytes{kBf16 * elements});
  move("widen updates", (kBf16 + kFp32) * elements);
  add_updates(elements);
}

/// The updates of all owners, in parts as long as the longest.
void MatrixUpdates::gather_updates(bool expert) {
  const ParameterGroup group = parameter_groups(rows_.shape())[expert ? 1 : 0];
  const StageParameters::OfMatrices& matrices = parameters_.matrices_of(expert);
  if (group.shape.ranks == 1 || matrices.all == 0) return;
  exchange(group.reduce, CollectiveOp::all_gather,
           Bytes{kFp32 * matrices.owned * group.shape.ranks});
  add_updates(matrices.all);
}

/// To the weights, of which nobody has touched any.
void MatrixUpdates::add_updates(double elements) {
  for (const UpdateSweep& each : sweeps_of_matrix(training_)) {
    if (writes_weights(each)) sweep_over(each, elements);
  }
  flush();
}

void MatrixUpdates::exchange(Channel channel, CollectiveOp op, Bytes bytes) {
  flush();
  const std::uint32_t operation =
      pass_collective(rows_.draft(), op, bytes, rows_.shape().of(channel));
  rows_.wait_for(rows_.communicate(channel, operation, rows_.reached()));
}

void MatrixUpdates::sweep_over(const UpdateSweep& sweep, double elements) {
  move(std::string(sweep.name), sweep_bytes(sweep, training_) * elements, MemoryRate::optimizer);
}

void MatrixUpdates::move(const std::string& name, double bytes, MemoryRate rate) {
  kernels_.push_back(timed(rows_.draft(), name, MemoryBound{Bytes{bytes}, rate}, Cause::optimizer));
}

void MatrixUpdates::multiply(const char* name, const Gemm& product) {
  kernels_.push_back(timed(rows_.draft(), name, product, Cause::optimizer));
}

void MatrixUpdates::flush() {
  if (!kernels_.empty()) rows_.write_kernels(std::exchange(kernels_, {}));
}

}  // namespace stepsim
