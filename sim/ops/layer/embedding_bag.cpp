// Embedding tables: looking up rows, summing them, exchanging the sums, updating the rows.
//
// By table, a rank has whole tables, as even a number of them as possible, and sends each rank the
// vectors of its samples: an all-to-all. By row, every rank has a part of each table and makes a
// part of every sum: a reduce-scatter, and backward an all-gather (Mudigere et al. 2021, arXiv
// 2104.05158, section 4.2).
//
// A sparse gradient is a tensor of as many rows as were looked up, in the type of the table, which
// torch.cuda.amp scales back in place and SGD adds to the table by index_add_
// (NVIDIA/DeepLearningExamples PyTorch/Recommendation/DLRM/dlrm/cuda_src/gather_gpu_fused.cu,
// gradient_copy_kernel; pytorch/pytorch torch/cuda/amp/grad_scaler.py, _unscale_grads_, and
// aten/src/ATen/native/sparse/cuda/SparseCUDATensorMath.cu, add_out_dense_sparse_cuda).
#include <algorithm>
#include <numeric>

#include "sim/ops/layer/recommendation_layers.hpp"

namespace stepsim {
namespace {

constexpr double kIndexBytes = 8;  // int64

double real(std::int64_t value) { return static_cast<double>(value); }

/// Rows of the fullest rank when the largest table that is left goes to the rank with the fewest
/// rows of those that are not full (NVIDIA/DeepLearningExamples PyTorch/Recommendation/DLRM,
/// distribute_to_buckets).
double fullest(std::vector<std::int64_t> tables, std::int64_t ranks, std::size_t most_tables) {
  struct Rank {
    double rows = 0;
    std::size_t tables = 0;
  };
  std::sort(tables.rbegin(), tables.rend());
  std::vector<Rank> held(static_cast<std::size_t>(ranks));
  for (const std::int64_t rows : tables) {
    Rank* emptiest = nullptr;
    for (Rank& rank : held) {
      const bool has_room = rank.tables < most_tables;
      if (has_room && (emptiest == nullptr || rank.rows < emptiest->rows)) emptiest = &rank;
    }
    emptiest->rows += real(rows);
    ++emptiest->tables;
  }
  return std::max_element(held.begin(), held.end(),
                          [](const Rank& a, const Rank& b) { return a.rows < b.rows; })
      ->rows;
}

double vector_bytes(const Pass& pass, const Dlrm& model) {
  return pass.element() * real(model.dim);
}

void add_exchange(Items& items, CollectiveOp op, double bytes, std::int64_t ranks) {
  if (ranks > 1) items.emplace_back(StartCollective{op, Bytes{bytes}, PassGroup::tables});
}

}  // namespace

TableShare::TableShare(const Dlrm& model, const Pass& pass, EmbeddingSplit split)
    : by_row(split == EmbeddingSplit::row), ranks(pass.replicas) {
  const auto tables = static_cast<std::int64_t>(model.tables.size());
  const std::int64_t most = (tables + ranks - 1) / ranks;
  samples = real(pass.batch * ranks);
  lookups = samples * model.pooling * (by_row ? real(tables) / real(ranks) : real(most));
  vectors = samples * real(by_row ? tables : most);
  const double rows =
      real(std::accumulate(model.tables.begin(), model.tables.end(), std::int64_t{0}));
  elements =
      real(model.dim) *
      (by_row ? rows / real(ranks) : fullest(model.tables, ranks, static_cast<std::size_t>(most)));
}

void start_vectors(Items& items, const Pass& pass, const Dlrm& model, const TableShare& share,
                   bool backward) {
  const CollectiveOp by_row = backward ? CollectiveOp::all_gather : CollectiveOp::reduce_scatter;
  add_exchange(items, share.by_row ? by_row : CollectiveOp::all_to_all,
               share.vectors * vector_bytes(pass, model), share.ranks);
}

Op embedding_bag(const Pass& pass, const Dlrm& model, const TableShare& share) {
  const double row = bytes_per_element(model.table_precision) * real(model.dim);
  const double vectors = share.vectors * vector_bytes(pass, model);
  const double indices = kIndexBytes * share.lookups;
  Op op;
  op.name = "embedding bag";
  op.tables = Bytes{bytes_per_element(model.table_precision) * share.elements};
  op.forward.emplace_back(memory_bound("embedding lookup", indices + share.lookups * row + vectors,
                                       MemoryRate::permute));
  start_vectors(op.forward, pass, model, share, false);
  if (share.ranks > 1) op.backward.emplace_back(Join{});
  double gradients = vectors;
  if (model.sparse_gradients) {
    gradients = share.lookups * row;
    op.backward.emplace_back(memory_bound("embedding gradient", vectors + gradients));
    if (pass.precision == Precision::fp16)
      op.backward.emplace_back(memory_bound("unscale embedding gradient", 2 * gradients));
  }
  op.backward.emplace_back(memory_bound(
      "embedding update", gradients + indices + 2 * share.lookups * row, MemoryRate::permute));
  op.output = Bytes{vectors};
  op.saved = Bytes{indices};
  return op;
}

}  // namespace stepsim
