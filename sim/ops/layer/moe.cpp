// Mixture of experts: router, dispatch to the ranks of the experts, grouped GEMMs, combine.
//
// After NVIDIA/Megatron-LM megatron/core/transformer/moe (router.py, token_dispatcher.py
// MoEAlltoAllTokenDispatcher, experts.py TEGroupedMLP): each token is sent once for each of its
// experts; ranks that share an expert gather its tokens and each computes its share of the
// expert's width; the router's weights are applied in the activation, so that no expert's output is
// kept. With a capacity every expert gets the same padded number of rows (drop and pad); without
// one, the busiest rank gets `imbalance` times the average, and the others wait for it.
//
// DeepEP's kernels (deepseek-ai/DeepEP, README and csrc/kernels/internode.cu), and HybridEP's, take
// tokens as they lie and send each once to every rank that has experts of it: there it becomes a row for each of
// them, and these are summed before one goes back. Both are element-wise kernels: in the profile of
// deepseek-ai/profile-data train.json the first takes 180 us (fp8) and the second 340 us, 2.6 TB/s.
//
// Rows that go in fp8 are quantised before, as the experts' first product takes them, and gradients
// as that of the last one's input does (DeepSeek-AI 2024, arXiv 2412.19437, section 3.3.2): all
// that is left to do where they arrive is the layout for weight gradients. Experts in 16 bits have
// to widen them first.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "sim/ops/layer/layers.hpp"
#include "sim/ops/style/style.hpp"
#include "sim/ops/token_routes.hpp"

namespace stepsim {
namespace {

/// How many rows go where; a row is one token on its way to one expert.
struct Rows {
  Rows(const Pass& pass, const ExpertShape& shape) {
    const Experts& e = shape.experts;
    tokens = static_cast<double>(pass.outer_tokens());
    average = tokens * static_cast<double>(e.top_k);
    const auto count = static_cast<double>(e.count);
    sent = pass.experts.capacity ? std::ceil(average / count * *pass.experts.capacity) * count
                                 : average;
    received = pass.experts.capacity ? sent : sent * pass.experts.imbalance;
    computed = received * static_cast<double>(pass.expert_mesh.tensor);
    local = e.count / pass.experts.degree;
    each = std::max<std::int64_t>(std::llround(computed / static_cast<double>(local)), 1);
    if (pass.quantises()) pad(pass.fp8_scaling == Fp8Scaling::mxfp8 ? 32 : 16);
    arrived = tokens * parts_reached(e, pass.experts.degree) * pass.experts.imbalance;
  }
  /// Products in fp8 take multiples of so many rows (NVIDIA/Megatron-LM
  /// megatron/core/fp8_utils.py, get_fp8_align_size; TransformerEngine's Fp8Padding).
  void pad(std::int64_t rows) {
    if (each % rows == 0) return;
    each = (each + rows - 1) / rows * rows;
    computed = static_cast<double>(each * local);
  }
  double tokens;       ///< tokens of this rank
  double average;      ///< one for each expert of each token
  double sent;         ///< with what a capacity pads
  double received;     ///< by the busiest rank
  double computed;     ///< rows with those of the other ranks that share the experts
  std::int64_t local;  ///< experts of this rank
  std::int64_t each;   ///< rows of one of them
  double arrived;      ///< at the busiest rank, where a token comes once for all its experts there
};

/// Bytes of fp8 with a scale in fp32 for each 128 numbers, as the report has them (arXiv
/// 2412.19437, section 3.3.2).
constexpr double kFp8Row = 1 + 4.0 / 128;

double row_bytes(const Pass& pass, const ExpertShape& shape) {
  return pass.element() * static_cast<double>(shape.hidden);
}

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

/// Rows come by rank, and experts want them by expert: with a capacity all parts are equal, and one
/// transposed copy does it; without one, each row is moved by itself.
void add_sort(Items& items, const Pass& pass, const ExpertShape& shape, double row,
              const char* name) {
  const Rows rows(pass, shape);
  if (rows.local == 1 || (pass.experts.degree == 1 && pass.expert_mesh.tensor == 1)) return;
  items.emplace_back(
      memory_bound(name, 2 * row * rows.computed,
                   pass.experts.capacity ? MemoryRate::elementwise : MemoryRate::permute));
}

/// Bytes of a row on its way to its experts.
double sent_bytes(const Pass& pass, const ExpertShape& shape) {
  return pass.experts.fp8_dispatch ? kFp8Row * static_cast<double>(shape.hidden)
                                   : row_bytes(pass, shape);
}

/// Whether rows arrive as products take them.
bool arrive_quantised(const Pass& pass) { return pass.experts.fp8_dispatch && pass.quantises(); }

/// Bytes of a row that experts read.
double taken_bytes(const Pass& pass, const ExpertShape& shape) {
  return arrive_quantised(pass) ? sent_bytes(pass, shape) : row_bytes(pass, shape);
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
  const auto gather = [&](double bytes) {
    const double within = bytes / static_cast<double>(pass.expert_mesh.tensor);
    add_exchange(items, within, CollectiveOp::all_gather);
    add_within_experts(items, pass, CollectiveOp::all_gather, bytes);
  };
  gather(kChoice * static_cast<double>(shape.experts.count) * tokens);
  gather(all);
  items.emplace_back(
      memory_bound(permute, all + row_bytes(pass, shape) * rows.computed, MemoryRate::permute));
}

/// Each rank adds its experts' outputs up for all tokens, before they are summed over ranks.
void add_homeward_from_all(Items& items, const Pass& pass, const ExpertShape& shape,
                           const char* unpermute) {
  const double all = gathered_bytes(pass, shape);
  const double computed = row_bytes(pass, shape) * Rows(pass, shape).computed;
  items.emplace_back(memory_bound(unpermute, computed + all, MemoryRate::permute));
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
    items.emplace_back(memory_bound("expand by expert", sent * (rows.arrived + rows.computed)));
}

/// A row for each expert of a token, moved as it is sent.
void add_outward_each(Items& items, const Pass& pass, const ExpertShape& shape,
                      const char* permute) {
  const Rows rows(pass, shape);
  const double sent = sent_bytes(pass, shape);
  items.emplace_back(memory_bound(permute, sent * (rows.tokens + rows.sent), MemoryRate::permute));
  if (pass.experts.degree > 1) add_exchange(items, sent * rows.received);
  add_within_experts(items, pass, CollectiveOp::all_gather, sent * rows.computed);
  add_sort(items, pass, shape, sent, "sort by expert");
}

void add_homeward_once(Items& items, const Pass& pass, const ExpertShape& shape) {
  const Rows rows(pass, shape);
  const double row = row_bytes(pass, shape);
  if (rows.local > 1)
    items.emplace_back(memory_bound("sum by token", row * (rows.computed + rows.arrived)));
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
  if (pass.experts.fp8_dispatch && !pass.quantises())
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
  items.emplace_back(memory_bound(unpermute, row * (rows.tokens + rows.sent), MemoryRate::permute));
}

/// One of the two linear layers of all local experts: the first multiplies what is dispatched, the
/// gradient of the second one's output is what combine sends back.
struct GroupedLinear {
  const char* name;
  std::int64_t in, out;
  bool first;
};

/// Before its products: of rows that came in fp8 only those by columns are missing.
void add_operand(Items& items, const Pass& pass, const std::string& name, double elements,
                 bool arrives) {
  if (!arrives || !arrive_quantised(pass)) return add_cast(items, pass, name + " cast", elements);
  if (pass.fp8_copies == 1) return;
  items.emplace_back(
      memory_bound(name + " transpose", (kFp8Row + fp8_bytes(pass.fp8_scaling)) * elements));
}

void add_weight_casts(Items& items, const Pass& pass, const Rows& rows, const GroupedLinear& l,
                      bool forward) {
  add_weight_cast(items, pass, l.name, static_cast<double>(rows.local * l.in * l.out), forward);
}

/// Transformer Engine launches a product for each expert (transformer_engine/common/gemm/
/// cublaslt_gemm.cu, nvte_multi_tensor_gemm).
void add_product(Items& items, const Pass& pass, Launch product) {
  if (pass.place.keeps_placeholders) product.launches = std::get<Gemm>(product.work).batch;
  items.emplace_back(std::move(product));
}

void add_forward(Op& op, const Pass& pass, const Rows& rows, const GroupedLinear& l) {
  const std::string name = l.name;
  add_operand(op.forward, pass, name, rows.computed * static_cast<double>(l.in), l.first);
  add_weight_casts(op.forward, pass, rows, l, true);
  add_product(op.forward, pass, grouped_gemm(name, pass, rows.each, l.out, l.in, rows.local));
  op.parameters.insert(op.parameters.end(), static_cast<std::size_t>(rows.local),
                       static_cast<double>(l.in * l.out));
  if (pass.quantises()) op.quantised += static_cast<double>(rows.local * l.in * l.out);
  op.saved += Bytes{pass.linear_element() * rows.computed * static_cast<double>(l.in)};
  op.kept_for_weights +=
      Bytes{pass.linear_element() * rows.computed * static_cast<double>(l.in + l.out)};
  op.flops += Flops{2.0 * rows.average * static_cast<double>(pass.expert_mesh.tensor) *
                    static_cast<double>(l.in) * static_cast<double>(l.out)};
}

void add_backward(Op& op, const Pass& pass, const Rows& rows, const GroupedLinear& l) {
  const std::string name = l.name;
  add_weight_casts(op.backward, pass, rows, l, false);
  add_operand(op.backward, pass, name + " gradient", rows.computed * static_cast<double>(l.out),
              !l.first);
  add_product(op.backward, pass,
              grouped_gemm(name + " dgrad", pass, rows.each, l.in, l.out, rows.local));
  add_product(op.backward, pass,
              grouped_gemm(name + " wgrad", pass, l.in, l.out, rows.each, rows.local, true));
  add_gradient_sum(op.backward, pass, name, static_cast<double>(rows.local * l.in * l.out));
  for (std::int64_t i = 0; i < rows.local; ++i)
    op.backward.emplace_back(GradientReady{static_cast<double>(l.in * l.out), op.expert});
}

/// Moves the items behind the start of an exchange, and behind what was moved there before.
void move_beside_exchange(Items& from, Items& exchange) {
  const auto end = std::ranges::find_if(exchange, [](const Item& item) {
    const auto* join = std::get_if<Join>(&item);
    return join != nullptr && join->axis == Axis::expert;
  });
  if (end == exchange.end()) return;
  exchange.insert(end, std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  from.clear();
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

Items counts_of(const ExpertShape& shape) {
  const double counts = 8 * static_cast<double>(shape.experts.count);
  Items items;
  for (int i = 0; i < kCountKernels; ++i) items.emplace_back(memory_bound("count tokens", counts));
  for (int i = 0; i < kMapKernels; ++i) items.emplace_back(memory_bound("map of rows", counts));
  return items;
}

/// The host waits in front of an exchange for the numbers (token_dispatcher.py, cuda_sync_point;
/// DeepEP's dispatch itself), or behind a gather for those of what was gathered.
void add_counts(Items& items, const Pass& pass, const ExpertShape& shape) {
  if (!counts_tokens(pass)) return;
  const auto is_start = [](const Item& item) {
    return std::holds_alternative<StartCollective>(item);
  };
  const auto is_join = [](const Item& item) { return std::holds_alternative<Join>(item); };
  Items counts = counts_of(shape);
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
  insert(items.begin());
}

}  // namespace

Op router(const Pass& pass, const ExpertShape& shape) {
  const Experts& e = shape.experts;
  const std::int64_t tokens = pass.outer_tokens();
  const auto logits = static_cast<double>(tokens * e.count);
  Op op;
  op.name = "router";
  op.parameters = {static_cast<double>(shape.hidden * e.count)};
  op.flops = Flops{2.0 * logits * static_cast<double>(shape.hidden)};
  // The shared experts keep the same input.
  const double input = e.shared_ffn > 0 ? 0 : row_bytes(pass, shape) * static_cast<double>(tokens);
  op.saved = Bytes{input + 4 * logits};
  op.saved_input = Bytes{input};
  op.kept_for_weights = Bytes{input + pass.element() * logits};
  // The tokens pass through it on their way to the experts.
  op.output = Bytes{row_bytes(pass, shape) * static_cast<double>(tokens) + 4 * logits};
  op.forward.emplace_back(gemm("router", pass, tokens, e.count, shape.hidden));
  // In fp32: cast and softmax, the top k, then a dense map with one byte and probabilities.
  op.forward.emplace_back(
      memory_bound("router softmax", (pass.element() + 4 * 3) * logits, MemoryRate::softmax));
  op.forward.emplace_back(memory_bound("top k", 4 * logits));
  op.forward.emplace_back(memory_bound("routing map", 5 * logits));
  op.backward.emplace_back(memory_bound("routing map backward", 8 * logits));
  op.backward.emplace_back(memory_bound("router softmax backward",
                                        (4 * 3 + pass.element()) * logits, MemoryRate::softmax));
  op.backward.emplace_back(gemm("router dgrad", pass, tokens, shape.hidden, e.count));
  op.backward.emplace_back(gemm("router wgrad", pass, shape.hidden, e.count, tokens, true));
  op.backward.emplace_back(GradientReady{op.parameters.front()});
  return op;
}

Op dispatch(const Pass& pass, const ExpertShape& shape) {
  Op op;
  op.name = "dispatch";
  op.output = Bytes{taken_bytes(pass, shape) * Rows(pass, shape).computed};
  op.scratch = Bytes{gathered_bytes(pass, shape)};
  add_outward(op.forward, pass, shape, "permute");
  add_counts(op.forward, pass, shape);
  add_homeward(op.backward, pass, shape, "permute backward");
  return op;
}

Op expert_mlps(const Pass& pass, const ExpertShape& shape) {
  const Rows rows(pass, shape);
  const std::int64_t ffn = shape.experts.ffn / pass.expert_mesh.tensor;
  const std::int64_t inputs = shape.gated ? 2 : 1;
  const GroupedLinear up{"experts up", shape.hidden, inputs * ffn, true};
  const GroupedLinear down{"experts down", ffn, shape.hidden, false};
  const double one = pass.element() * rows.computed * static_cast<double>(ffn);
  Op op;
  op.name = "experts";
  op.expert = pass.expert_mesh.is_own();
  add_forward(op, pass, rows, up);
  ActivationKernels kernels = pass.style->activation("experts activation", one, shape.gated);
  keep_narrow_input(kernels, pass, rows.computed * static_cast<double>(inputs * ffn));
  append(op.forward, kernels.forward);
  add_forward(op, pass, rows, down);
  op.saved += kernels.saved;
  op.output = Bytes{row_bytes(pass, shape) * rows.computed};
  op.scratch = Bytes{static_cast<double>(inputs) * one};  // gradients between the two layers
  if (pass.place.keeps_placeholders) {
    op.placeholders = {{up.in, up.out}, {down.in, down.out}};
  } else if (!pass.gathers_parameters) {
    op.scratch += Bytes{pass.element() * static_cast<double>(rows.local * up.in * up.out)};
  }
  // The activation's output, as the second product keeps it.
  op.saved_scores = Bytes{one / pass.element() * pass.linear_element()};
  add_backward(op, pass, rows, down);
  append(op.backward, kernels.backward);
  add_backward(op, pass, rows, up);
  return op;
}

void overlap_shared(Op& dispatch, Op& combine, std::span<Op> shared) {
  Items& last = shared.back().forward;
  for (Op& op : shared.first(shared.size() - 1)) move_beside_exchange(op.forward, dispatch.forward);
  move_beside_exchange(last, combine.forward);
  move_beside_exchange(shared.back().backward, combine.backward);
  for (std::size_t i = shared.size() - 1; i-- > 0;)
    move_beside_exchange(shared[i].backward, dispatch.backward);
}

void delay_wgrad(Op& experts, Op& dispatch) {
  const auto is_of_weights = [](const Item& item) {
    const auto* launch = std::get_if<Launch>(&item);
    if (launch == nullptr) return std::holds_alternative<GradientReady>(item);
    const auto* product = std::get_if<Gemm>(&launch->work);
    return launch->for_weights || (product != nullptr && product->weight_gradient);
  };
  Items& all = experts.backward;
  const auto delayed = std::stable_partition(
      all.begin(), all.end(), [&](const Item& item) { return !is_of_weights(item); });
  Items moved(delayed, all.end());
  all.erase(delayed, all.end());
  move_beside_exchange(moved, dispatch.backward);
}

Op combine(const Pass& pass, const ExpertShape& shape) {
  Op op;
  op.name = "combine";
  op.output = Bytes{row_bytes(pass, shape) * Rows(pass, shape).tokens};
  op.scratch = Bytes{gathered_bytes(pass, shape)};
  add_homeward(op.forward, pass, shape, "unpermute");
  add_outward(op.backward, pass, shape, "unpermute backward");
  return op;
}

}  // namespace stepsim
