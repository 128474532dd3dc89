// Attention over a sequence that is split over context-parallel ranks, in three ways.
//
// Ring (Liu, Zaharia, Abbeel 2023, arXiv 2310.01889; NVIDIA/TransformerEngine
// transformer_engine/pytorch/attention, AttnFuncWithCPAndKVP2P): keys and values go around, each
// block arrives while attention works on the one before; backward, their gradients go with them.
// All-gather (Llama 3, arXiv 2407.21783, section 3.3.2; AttnFuncWithCPAndKVAllGather): keys and
// values are gathered before attention, again for backward, and their gradients scattered.
// All-to-all (DeepSpeed-Ulysses, arXiv 2309.14509): ranks exchange parts of the sequence for heads.
// Where a model has fewer key-value heads than ranks, each is repeated first: one for each rank,
// and gradients of the copies are summed (deepspeedai/DeepSpeed
// deepspeed/runtime/sequence_parallel/ulysses_sp.py, kv_replication_factor).
//
// Without a mask each of the n blocks is whole. Causal work is dealt out evenly (Megatron-LM gives
// rank i the i-th part of 2n from either end): on each block of the ring a rank has the causal half
// of (s/n)^2, at its own block because it is causal, at the others because half of the queries or
// half of the keys take part. Documents of a packed sequence are dealt out each so by the ring, padded
// to multiples of 2n (transformer_engine/pytorch/attention, the layout thd); the all-gather splits
// the sequence, and the all-to-all has all of it on each rank.
#include <algorithm>

#include "sim/ops/layer/layers.hpp"

namespace stepsim {
namespace {

/// How many copies of a key-value head ranks need that trade parts of the sequence for heads.
std::int64_t head_repeats(const Pass& pass, const AttentionShape& a) {
  return std::max<std::int64_t>(pass.context.degree / a.kv_heads, 1);
}

struct Exchange {
  Exchange(const Pass& pass, const AttentionShape& a) : pass_(pass), a_(a) {
    const double token = pass.element() * static_cast<double>(pass.tokens());
    query = token * static_cast<double>(a.heads * a.head_dim);
    output = token * static_cast<double>(a.heads * a.values());
    kv = token * static_cast<double>(a.kv_heads * (a.head_dim + a.values()));
    document = a.packed(pass).document;
  }

  /// `packed`: tokens of a document that this rank has; 0: there are none.
  Launch attention(std::int64_t heads, std::int64_t sequence, double packed, bool backward,
                   std::int64_t query_ranks = 1) const {
    FusedAttention kernel{a_.kernel, pass_.batch,  heads,       a_.head_dim, sequence,
                          backward,  a_.value_dim, query_ranks, a_.causal};
    kernel.document = packed;
    return {backward ? "attention backward" : "attention", kernel};
  }

  static void start(Items& items, CollectiveOp op, double bytes) {
    items.emplace_back(StartCollective{op, Bytes{bytes}, Axis::context});
  }
  static void exchange(Items& items, CollectiveOp op, double bytes) {
    start(items, op, bytes);
    items.emplace_back(Join{});
  }

  const Pass& pass_;
  const AttentionShape& a_;
  double query, output, kv;  ///< bytes of this rank's part
  double document;           ///< tokens; 0: the sequence is one
};

void add_ring(Op& op, const Exchange& e) {
  const std::int64_t n = e.pass_.context.degree;
  const std::int64_t s = e.pass_.sequence;
  const double document = e.document / static_cast<double>(n);
  // Partial results of later blocks are read, and the sum read and written. Under a mask they cover
  // all queries or half of them, as many one as the other.
  const double merged = 3 * (e.a_.causal ? 0.75 : 1);
  for (std::int64_t block = 0; block < n; ++block) {
    const bool last = block + 1 == n;
    if (!last) Exchange::start(op.forward, CollectiveOp::shift, e.kv);
    op.forward.emplace_back(e.attention(e.a_.heads, s, document, false));
    if (block > 0) op.forward.emplace_back(memory_bound("merge outputs", merged * e.output));
    if (!last) op.forward.emplace_back(Join{});
  }
  // The first exchange has no gradients yet; the last one brings them home without the blocks.
  for (std::int64_t block = 0; block < n; ++block) {
    const bool end = block == 0 || block + 1 == n;
    Exchange::start(op.backward, CollectiveOp::shift, (end ? 1 : 2) * e.kv);
    op.backward.emplace_back(e.attention(e.a_.heads, s, document, true));
    op.backward.emplace_back(Join{});
    if (block > 0)
      op.backward.emplace_back(memory_bound("merge gradients", merged * (e.query + e.kv)));
  }
}

void add_gathered(Op& op, const Exchange& e) {
  const std::int64_t n = e.pass_.context.degree;
  const double whole = e.kv * static_cast<double>(n);
  Exchange::exchange(op.forward, CollectiveOp::all_gather, whole);
  op.forward.emplace_back(e.attention(e.a_.heads, e.pass_.whole_sequence(), e.document, false, n));
  Exchange::exchange(op.backward, CollectiveOp::all_gather, whole);
  op.backward.emplace_back(e.attention(e.a_.heads, e.pass_.whole_sequence(), e.document, true, n));
  Exchange::exchange(op.backward, CollectiveOp::reduce_scatter, whole);
}

/// Each exchange also lays its tensor out again, before and after. Ranks have the whole sequence of
/// some heads, so that windows hold as they are; the other two kinds are refused beside them.
void add_head_split(Op& op, const Exchange& e) {
  const std::int64_t heads = e.a_.heads / e.pass_.context.degree;
  const auto trade = [](Items& items, const char* name, double bytes) {
    items.emplace_back(memory_bound(name, 2 * bytes));
    Exchange::exchange(items, CollectiveOp::all_to_all, bytes);
    items.emplace_back(memory_bound(name, 2 * bytes));
  };
  const double repeated = e.kv * static_cast<double>(head_repeats(e.pass_, e.a_));
  const bool repeats = repeated > e.kv;
  if (repeats) op.forward.emplace_back(memory_bound("repeat keys and values", e.kv + repeated));
  trade(op.forward, "sequence for heads", e.query + repeated);
  const auto attention = [&](bool backward) {
    Launch launch = e.attention(heads, e.pass_.whole_sequence(), e.document, backward);
    narrow(std::get<FusedAttention>(launch.work), e.a_);
    return launch;
  };
  op.forward.emplace_back(attention(false));
  trade(op.forward, "heads for sequence", e.output);
  trade(op.backward, "sequence for heads", e.output);
  op.backward.emplace_back(attention(true));
  trade(op.backward, "heads for sequence", e.query + repeated);
  if (repeats) op.backward.emplace_back(memory_bound("sum of repeated gradients", repeated + e.kv));
  op.saved += Bytes{repeated - e.kv};
}

}  // namespace

void add_context_attention(Op& op, const Pass& pass, const AttentionShape& shape) {
  const Exchange exchange(pass, shape);
  switch (pass.context.kind) {
    case ContextKind::ring:
      return add_ring(op, exchange);
    case ContextKind::all_gather:
      return add_gathered(op, exchange);
    case ContextKind::all_to_all:
      return add_head_split(op, exchange);
  }
}

}  // namespace stepsim
