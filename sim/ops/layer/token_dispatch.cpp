// The way of tokens to the ranks of their experts and back: dispatch and combine.
//
// After NVIDIA/Megatron-LM megatron/core/transformer/moe (router.py, token_dispatcher.py
// MoEAlltoAllTokenDispatcher, experts.py TEGroupedMLP): each token is sent once for each of its
// experts; ranks that share an expert gather its tokens and each computes its share of the
// expert's width; the router's weights are applied in the activation, so that no expert's output is
// kept. With a capacity every expert gets the same padded number of rows (drop and pad); without
// one, the busiest rank gets `imbalance` times the average, and the others wait for it.
//
// DeepEP's kernels (deepseek-ai/DeepEP, README and csrc/kernels/internode.cu), and HybridEP's, take
// tokens as they lie and send each once to every rank that has experts of it: there it becomes a
// row for each of them, and these are summed before one goes back. Both are element-wise kernels:
// in the profile of deepseek-ai/profile-data train.json the first takes 180 us (fp8) and the second
// 340 us, 2.6 TB/s.
//
// Rows that go in fp8 are quantised before, as the experts' first product takes them, and gradients
// as that of the last one's input does (DeepSeek-AI 2024, arXiv 2412.19437, section 3.3.2): all
// that is left to do where they arrive is the layout for weight gradients. Experts in 16 bits have
// to widen them first.
#include <algorithm>
#include <iterator>

#include "sim/ops/layer/expert_calls.hpp"
#include "sim/ops/layer/expert_rows.hpp"
#include "sim/ops/layer/layers.hpp"

namespace stepsim {
namespace {

void add_exchange(Items& items, double bytes, CollectiveOp op = CollectiveOp::all_to_all) {
  items.emplace_back(StartCollective{op, Bytes{bytes}, Axis::expert});
  items.emplace_back(Join{.axis = Axis::expert});
}

/// Between the ranks that share each expert, of which all compute all rows.
void add_within_experts(Items& items, const Pass& pass, CollectiveOp op, double bytes) {
  if (pass.expert_mesh.tensor == 1) return;
  const Axis axis = pass.expert_mesh.own_tensor ? Axis::expert_tensor : Axis::tensor;
  items.emplace_back(StartCollective{op, Bytes{bytes}, axis});
  items.emplace_back(Join{});
}

/// A probability goes with each row (fp32), for the activation multiplies by it (NVIDIA/Megatron-LM
/// megatron/core/transformer/moe/token_dispatcher.py, token_dispatch: a second all-to-all).
constexpr double kProbability = 4;

/// How many times as long PyTorch's indexing takes as kernels made for it: rows that are gathered
/// (index_select), and rows that are added up atomically (index_add, scatter_add). 8,192 tokens of
/// 4,096 numbers with eight experts in fp16: 0.439 and 2.304 ms where fused kernels take 0.275 and
/// 0.207 (DeepLink-org/DLBlas pull request 66).
constexpr double kGatherByIndex = 1.6, kAddByIndex = 11.1;

/// Rows on their way between the order of tokens and that of experts; `bytes` are each once, and
/// `by_index` is how many times as long PyTorch's indexing takes. Rows that DeepEP sends once are
/// moved by either, too (NVIDIA/Megatron-LM megatron/core/transformer/moe/token_dispatcher.py,
/// _DeepepManager).
Launch permutation(const Pass& pass, const char* name, double bytes, double by_index,
                   MemoryRate rate = MemoryRate::permute) {
  Launch kernel = memory_bound(name, bytes, rate);
  if (!pass.experts.permute_fusion) std::get<MemoryBound>(kernel.work).slower = by_index;
  return kernel;
}

/// The host's time for a chunk that PyTorch splits off and joins again: a view, in the mean of both
/// directions (host_cost.hpp).
constexpr Seconds kChunk = 1.2_us;

/// Rows come by rank, and experts want them by expert: with a capacity all parts are equal, and one
/// transposed copy does it; without one, each row is moved by itself, or each chunk of PyTorch's.
void add_sort(Items& items, const Pass& pass, const ExpertShape& shape, double row,
              const char* name) {
  const Rows rows(pass, shape);
  if (rows.local == 1 || (pass.experts.degree == 1 && pass.expert_mesh.tensor == 1)) return;
  const bool in_chunks = pass.experts.capacity || !pass.experts.permute_fusion;
  Launch sort = memory_bound(name, 2 * row * rows.computed,
                             in_chunks ? MemoryRate::elementwise : MemoryRate::permute);
  const std::int64_t ranks = pass.experts.degree * pass.expert_mesh.tensor;
  if (!pass.experts.permute_fusion && !pass.experts.capacity)
    sort.more_launches = kChunk * static_cast<double>(rows.local * ranks);
  items.emplace_back(std::move(sort));
}

bool sends_once(const Pass& pass) {
  return sends_once(pass.experts.dispatcher) && pass.experts.degree > 1;
}

bool gathers_tokens(const Pass& pass) {
  return pass.experts.dispatcher == Dispatcher::all_gather && pass.experts.degree > 1;
}

/// Bytes of the tokens of all ranks of the experts' mesh.
double gathered_bytes(const Pass& pass, const ExpertShape& shape) {
  if (!gathers_tokens(pass)) return 0;
  const double ranks = static_cast<double>(pass.experts.degree * pass.expert_mesh.tensor);
  return row_bytes(pass, shape) * Rows(pass, shape).tokens * ranks;
}

/// From all ranks of the experts' mesh to each.
void add_gather(Items& items, const Pass& pass, double bytes) {
  add_exchange(items, bytes / static_cast<double>(pass.expert_mesh.tensor),
               CollectiveOp::all_gather);
  add_within_experts(items, pass, CollectiveOp::all_gather, bytes);
}

/// Bytes that say of a token and an expert whether the token goes there, and with which probability
/// (fp32).
constexpr double kChoice = 5;

/// All ranks have all tokens, and what is chosen for them; each takes what is for its experts
/// (NVIDIA/Megatron-LM megatron/core/transformer/moe/token_dispatcher.py,
/// MoEAllGatherTokenDispatcher).
void add_outward_to_all(Items& items, const Pass& pass, const ExpertShape& shape,
                        const char* permute) {
  const Rows rows(pass, shape);
  const double all = gathered_bytes(pass, shape);
  const double tokens = all / row_bytes(pass, shape);
  add_gather(items, pass, kChoice * static_cast<double>(shape.experts.count) * tokens);
  add_gather(items, pass, all);
  items.emplace_back(
      permutation(pass, permute, all + row_bytes(pass, shape) * rows.computed, kGatherByIndex));
}

/// Each rank adds its experts' outputs up for all tokens, before they are summed over ranks.
void add_homeward_from_all(Items& items, const Pass& pass, const ExpertShape& shape,
                           const char* unpermute) {
  const double all = gathered_bytes(pass, shape);
  const double computed = row_bytes(pass, shape) * Rows(pass, shape).computed;
  items.emplace_back(permutation(pass, unpermute, computed + all, kAddByIndex));
  add_within_experts(items, pass, CollectiveOp::reduce_scatter, all);
  add_exchange(items, all / static_cast<double>(pass.expert_mesh.tensor),
               CollectiveOp::reduce_scatter);
}

/// Tokens arrive once and become a row for each of their experts here.
void add_outward_once(Items& items, const Pass& pass, const ExpertShape& shape) {
  const Rows rows(pass, shape);
  const double sent = sent_bytes(pass, shape);
  add_exchange(items, sent * rows.arrived);
  if (rows.local > 1)
    items.emplace_back(permutation(pass, "expand by expert", sent * (rows.arrived + rows.computed),
                                   kGatherByIndex, MemoryRate::elementwise));
}

/// A row for each expert of a token, moved as it is sent.
void add_outward_each(Items& items, const Pass& pass, const ExpertShape& shape,
                      const char* permute) {
  const Rows rows(pass, shape);
  const double sent = sent_bytes(pass, shape);
  items.emplace_back(permutation(pass, permute, sent * (rows.tokens + rows.sent), kGatherByIndex));
  if (pass.experts.degree > 1) add_exchange(items, sent * rows.received);
  add_within_experts(items, pass, CollectiveOp::all_gather, sent * rows.computed);
  add_sort(items, pass, shape, sent, "sort by expert");
}

void add_homeward_once(Items& items, const Pass& pass, const ExpertShape& shape) {
  const Rows rows(pass, shape);
  const double row = row_bytes(pass, shape);
  if (rows.local > 1)
    items.emplace_back(permutation(pass, "sum by token", row * (rows.computed + rows.arrived),
                                   kAddByIndex, MemoryRate::elementwise));
  add_exchange(items, row * rows.arrived);
}

/// From this rank's tokens to the rows of its experts: dispatch forward, combine backward.
void add_outward(Items& items, const Pass& pass, const ExpertShape& shape, const char* permute) {
  const Rows rows(pass, shape);
  const double each = (pass.element() + kFp8Row) * static_cast<double>(shape.hidden);
  if (gathers_tokens(pass)) return add_outward_to_all(items, pass, shape, permute);
  if (pass.experts.fp8_dispatch)
    items.emplace_back(memory_bound("cast before dispatch", each * rows.tokens));
  if (sends_once(pass)) {
    add_outward_once(items, pass, shape);
  } else {
    add_outward_each(items, pass, shape, permute);
  }
  if (pass.experts.fp8_dispatch && pass.linear != Precision::fp8)
    items.emplace_back(memory_bound("cast behind dispatch", each * rows.computed));
}

/// Adds the way of the tokens back to their ranks.
void add_homeward(Items& items, const Pass& pass, const ExpertShape& shape, const char* unpermute) {
  if (sends_once(pass)) return add_homeward_once(items, pass, shape);
  if (gathers_tokens(pass)) return add_homeward_from_all(items, pass, shape, unpermute);
  const Rows rows(pass, shape);
  const double row = row_bytes(pass, shape);
  add_sort(items, pass, shape, row, "sort by rank");
  add_within_experts(items, pass, CollectiveOp::reduce_scatter, row * rows.computed);
  if (pass.experts.degree > 1) add_exchange(items, row * rows.received);
  items.emplace_back(permutation(pass, unpermute, row * (rows.tokens + rows.sent), kAddByIndex));
}

/// Whether the numbers of tokens decide what is launched: how many are sent, or the sizes of
/// products, which Transformer Engine has as numbers of the host (NVIDIA/TransformerEngine
/// transformer_engine/pytorch/module/grouped_linear.py, m_splits).
bool counts_tokens(const Pass& pass) {
  return pass.waits_for_counts && (pass.experts.degree > 1 || pass.place.keeps_placeholders);
}

/// Kernels that count tokens by expert and by rank (NVIDIA/Megatron-LM
/// megatron/core/transformer/moe/token_dispatcher.py, preprocess), or that turn DeepEP's indices
/// into a map (the same file, _indices_to_multihot): eight of either.
constexpr int kCountKernels = 8;
/// Kernels that make the map by which rows are permuted (NVIDIA/TransformerEngine
/// transformer_engine/pytorch/triton/permutation.py, make_row_id_map).
constexpr int kMapKernels = 3;

/// Adds the exchange of probabilities, or of their gradients, behind that of the rows. Kernels that
/// send each token once take them along, and a gather of tokens has its own.
void add_probabilities(Items& items, const Pass& pass, const ExpertShape& shape) {
  if (pass.experts.degree == 1 || sends_once(pass) || gathers_tokens(pass)) return;
  const Bytes bytes{kProbability * Rows(pass, shape).received};
  const Items exchange{
      StartCollective{
          .op = CollectiveOp::all_to_all, .bytes = bytes, .axis = Axis::expert, .yields = false},
      Join{.axis = Axis::expert}};
  const auto is_join = [](const Item& item) {
    const auto* join = std::get_if<Join>(&item);
    return join != nullptr && join->axis == Axis::expert;
  };
  items.insert(std::find_if(items.rbegin(), items.rend(), is_join).base(), exchange.begin(),
               exchange.end());
}

/// Copies of counts to the host: by expert, of what goes out and comes in, by rank of a group
/// (token_dispatcher.py, _maybe_dtoh_and_synchronize).
constexpr int kCountCopies = 4;
/// Times that the host waits behind DeepEP's exchange: Megatron-LM picks what a mask has set of
/// indices and of probabilities, and repeats each row's number as often as it has experts, none of
/// whose sizes the host knows (token_dispatcher.py, _indices_to_multihot; a fused kernel needs
/// --enable-experimental).
constexpr int kMaskReads = 3;

bool picks_by_mask(const Pass& pass) {
  return pass.experts.dispatcher == Dispatcher::deepep && pass.megatrons_experts;
}

Items counts_of(const Pass& pass, const ExpertShape& shape) {
  const double counts = 8 * static_cast<double>(shape.experts.count);
  Items items;
  for (int i = 0; i < kCountKernels; ++i) {
    items.emplace_back(memory_bound("count tokens", counts));
    if (picks_by_mask(pass) && i < kMaskReads) items.emplace_back(HostRead{});
  }
  for (int i = 0; i < kMapKernels; ++i) items.emplace_back(memory_bound("map of rows", counts));
  return items;
}

/// HybridEP gathers from all ranks whether a token goes to an expert, in a byte each, and scans that
/// for where each row goes, before a forward pass's dispatch (deepseek-ai/DeepEP branch hybrid-ep,
/// csrc/hybrid_ep/executor, allgather_routing_map and metadata_preprocess_core).
Items routing_map(const Pass& pass, const ExpertShape& shape) {
  Items items;
  const double ranks = static_cast<double>(pass.experts.degree * pass.expert_mesh.tensor);
  const double bytes = static_cast<double>(shape.experts.count) * Rows(pass, shape).tokens * ranks;
  add_gather(items, pass, bytes);
  items.emplace_back(memory_bound("scan of the map", bytes));
  return items;
}

/// The host waits in front of an exchange for the numbers (token_dispatcher.py, cuda_sync_point;
/// DeepEP's dispatch itself), or behind a gather for those of what was gathered.
void add_counts(Items& items, const Pass& pass, const ExpertShape& shape) {
  if (pass.experts.dispatcher == Dispatcher::hybrid_ep && pass.experts.degree > 1) {
    Items before = routing_map(pass, shape);
    if (counts_tokens(pass)) before.emplace_back(HostRead{});
    items.insert(items.begin(), std::make_move_iterator(before.begin()),
                 std::make_move_iterator(before.end()));
    return;
  }
  if (!counts_tokens(pass)) return;
  const auto is_start = [](const Item& item) {
    return std::holds_alternative<StartCollective>(item);
  };
  const auto is_join = [](const Item& item) { return std::holds_alternative<Join>(item); };
  Items counts = counts_of(pass, shape);
  const auto insert = [&](auto place) {
    items.insert(place, std::make_move_iterator(counts.begin()),
                 std::make_move_iterator(counts.end()));
  };
  if (gathers_tokens(pass)) {
    counts.emplace_back(HostRead{});
    return insert(std::find_if(items.rbegin(), items.rend(), is_join).base());
  }
  items.insert(std::ranges::find_if(items, is_start), HostRead{});
  if (sends_once(pass)) return insert(std::find_if(items.rbegin(), items.rend(), is_join).base());
  // Each rank has to know how many rows it gets of each other one.
  const double ranks = static_cast<double>(pass.experts.degree * pass.expert_mesh.tensor);
  if (pass.experts.degree > 1)
    add_exchange(counts, 8 * static_cast<double>(shape.experts.count) * ranks,
                 CollectiveOp::all_gather);
  for (int i = 0; i < kCountCopies; ++i)
    counts.emplace_back(
        memory_bound("counts to the host", 8 * static_cast<double>(shape.experts.count)));
  insert(items.begin());
}

}  // namespace

Op dispatch(const Pass& pass, const ExpertShape& shape) {
  Op op;
  op.name = "dispatch";
  op.calls = dispatch_calls(pass, Rows(pass, shape).local);
  op.output = Bytes{taken_bytes(pass, shape) * Rows(pass, shape).computed};
  op.scratch = Bytes{gathered_bytes(pass, shape)};
  add_outward(op.forward, pass, shape, "permute");
  add_probabilities(op.forward, pass, shape);
  add_counts(op.forward, pass, shape);
  add_homeward(op.backward, pass, shape, "permute backward");
  add_probabilities(op.backward, pass, shape);
  return op;
}

Op combine(const Pass& pass, const ExpertShape& shape) {
  Op op;
  op.name = "combine";
  op.calls = combine_calls(pass, Rows(pass, shape).local);
  op.output = Bytes{row_bytes(pass, shape) * Rows(pass, shape).tokens};
  op.scratch = Bytes{gathered_bytes(pass, shape)};
  add_homeward(op.forward, pass, shape, "unpermute");
  add_outward(op.backward, pass, shape, "unpermute backward");
  return op;
}

}  // namespace stepsim
