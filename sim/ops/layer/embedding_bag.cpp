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
//
// Where rank 0 alone has the bottom MLP nothing runs beside the exchange, for its vectors are part
// of it, and tables are dealt to the other ranks if these are four or more (the same repository,
// dlrm/utils/distributed.py, get_device_mapping, and dlrm/model/distributed.py, DistributedDlrm).
// Several GPUs look rows up in fp32 there and cast them, and hand PyTorch a gradient in fp32 as it
// is (dlrm/cuda_src/sparse_gather/gather_gpu.cu; pytorch/pytorch
// aten/src/ATen/native/Embedding.cpp, embedding_sparse_backward).
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
  return std::ranges::max_element(held, {}, &Rank::rows)->rows;
}

double vector_bytes(const Pass& pass, const Dlrm& model) {
  return pass.element() * real(model.dim);
}

void add_exchange(Items& items, CollectiveOp op, double bytes, std::int64_t ranks) {
  if (ranks > 1) items.emplace_back(StartCollective{op, Bytes{bytes}, Axis::tables});
}

}  // namespace

TableShare::TableShare(const Dlrm& model, const Pass& pass, const Parallelism& split)
    : by_row(split.embedding == EmbeddingSplit::row),
      first(split.bottom_mlp == BottomMlp::first && pass.replicas > 1),
      on_first(!first || pass.replicas <= kMostRanksWithTablesOnFirst),
      ranks(pass.replicas) {
  const auto tables = static_cast<std::int64_t>(model.tables.size());
  const std::int64_t holders = on_first ? ranks : ranks - 1;
  const std::int64_t most = (tables + holders - 1) / holders;
  samples = real(pass.batch * ranks);
  lookups = samples * model.pooling * (by_row ? real(tables) / real(ranks) : real(most));
  vectors = samples * real(by_row ? tables : most);
  const double rows =
      real(std::accumulate(model.tables.begin(), model.tables.end(), std::int64_t{0}));
  elements =
      real(model.dim) * (by_row ? rows / real(ranks)
                                : fullest(model.tables, holders, static_cast<std::size_t>(most)));
  sent = vectors + (first && on_first ? samples : 0);
}

void start_vectors(Items& items, const Pass& pass, const Dlrm& model, const TableShare& share,
                   bool backward) {
  const CollectiveOp by_row = backward ? CollectiveOp::all_gather : CollectiveOp::reduce_scatter;
  add_exchange(items, share.by_row ? by_row : CollectiveOp::all_to_all,
               share.sent * vector_bytes(pass, model), share.ranks);
}

Op vector_exchange(const Pass& pass, const Dlrm& model, const TableShare& share, bool joins) {
  const double sent = share.sent * vector_bytes(pass, model);
  Op op;
  op.name = "exchange of vectors";
  if (joins) op.forward.emplace_back(memory_bound("join vectors to send", 2 * sent));
  start_vectors(op.forward, pass, model, share, false);
  op.forward.emplace_back(Join{});
  start_vectors(op.backward, pass, model, share, true);
  op.backward.emplace_back(Join{});
  if (joins) op.backward.emplace_back(memory_bound("split received gradients", 2 * sent));
  op.output = Bytes{sent};
  return op;
}

namespace {

/// Gradients of vectors as those of rows, and the rows updated by them.
void add_update(Items& items, const Pass& pass, const Dlrm& model, const TableShare& share) {
  const double element = bytes_per_element(model.table_precision);
  const double row = element * real(model.dim);
  const double vectors = share.vectors * vector_bytes(pass, model);
  const bool casts = element != pass.element();
  const bool is_row = model.pooling == 1;
  double gradients = vectors;
  if (model.sparse_gradients) {
    gradients = share.lookups * row;
    if (model.fused_lookup || casts || !is_row)
      items.emplace_back(memory_bound("embedding gradient", vectors + gradients));
    if (pass.precision == Precision::fp16)
      items.emplace_back(memory_bound("unscale embedding gradient", 2 * gradients));
  } else if (!model.fused_lookup && casts) {
    gradients = share.vectors * row;
    items.emplace_back(memory_bound("cast of gradients", vectors + gradients));
  }
  items.emplace_back(memory_bound("embedding update",
                                  gradients + kIndexBytes * share.lookups + 2 * share.lookups * row,
                                  MemoryRate::permute));
}

}  // namespace

Op embedding_bag(const Pass& pass, const Dlrm& model, const TableShare& share) {
  const double row = bytes_per_element(model.table_precision) * real(model.dim);
  const double vectors = share.vectors * vector_bytes(pass, model);
  const double indices = kIndexBytes * share.lookups;
  const bool casts = !model.fused_lookup && share.vectors * row != vectors;
  const double written = casts ? share.vectors * row : vectors;
  const bool beside_bottom = share.ranks > 1 && !share.first;
  Op op;
  op.name = "embedding bag";
  op.tables = Bytes{bytes_per_element(model.table_precision) * share.elements};
  op.forward.emplace_back(memory_bound("embedding lookup", indices + share.lookups * row + written,
                                       MemoryRate::permute));
  if (casts) op.forward.emplace_back(memory_bound("cast of vectors", written + vectors));
  if (beside_bottom) {
    start_vectors(op.forward, pass, model, share, false);
    op.backward.emplace_back(Join{});
  }
  add_update(op.backward, pass, model, share);
  op.output = Bytes{vectors};
  op.saved = Bytes{indices};
  return op;
}

}  // namespace stepsim
