// Mixture of experts: the router, and the experts' MLPs as grouped GEMMs.
//
// After NVIDIA/Megatron-LM megatron/core/transformer/moe (router.py, experts.py TEGroupedMLP):
// ranks that share an expert each compute their share of its width; the router's weights are
// applied in the activation, so that no expert's output is kept. How rows reach their experts is in
// token_dispatch.cpp.
#include <cmath>
#include <iterator>

#include "sim/ops/layer/expert_calls.hpp"
#include "sim/ops/layer/expert_clamps.hpp"
#include "sim/ops/layer/expert_rows.hpp"
#include "sim/ops/layer/layers.hpp"
#include "sim/ops/layer/tensor_collective.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

/// One of the two linear layers of all local experts: the first multiplies what is dispatched, the
/// gradient of the second one's output is what combine sends back.
struct GroupedLinear {
  const char* name;
  std::int64_t in, out;
  bool first;
  bool bias;  ///< of each expert; the first product adds its own
};

/// Whether each expert of a rank has kernels of its own: as Transformer Engine's linear layers of a
/// group have them, but those whose numbers of rows stay on the GPU (NVIDIA/TransformerEngine
/// transformer_engine/pytorch/module/grouped_linear.py, use_grouped_tensor).
bool launches_each(const Pass& pass) {
  return pass.place.keeps_placeholders && !pass.experts.grouped_kernel;
}

/// A tensor that C++ wraps takes the host as long as a view without a graph. On a DGX H100 that is
/// 2.45 us: the 6.028 us of a server beside an H100 (calib/measured/h100_calls.csv), where a linear
/// module takes 33.1 us and on a DGX H100 13.48 (scenarios/clusters/dgx-h100.yaml). The CPU of
/// calib/measured/host.csv, which has no GPU, over the speed of 0.71 would say 1.9 us.
constexpr Seconds kTensor = 2.45_us;
/// The host's time for one product more of a group: cuBLASLt is asked for an algorithm before each
/// (NVIDIA/TransformerEngine transformer_engine/common/gemm/cublaslt_gemm.cu, cublas_gemm). Eight
/// small products take 0.267 ms (NVIDIA/TransformerEngine pull request 3134, multi-stream, operands
/// prepared before).
constexpr Seconds kNextProduct = 33.4_us;
/// The host's time before that for what wraps its operands, its output, its bias and what GELU
/// reads: five tensors, whether there is a bias or none
/// (transformer_engine/pytorch/csrc/extensions/gemm.cpp, te_general_grouped_gemm).
constexpr Seconds kNextOperands = 5 * kTensor;
/// The host's time for one cast more, launched by a loop in C++: 4 to 6 us a launch (docs/host.md).
constexpr Seconds kNextCast = 5_us;
/// The host's time for what holds the quantised rows of one expert more: eight tensors, or
/// attributes that are read or set (transformer_engine/pytorch/csrc/extensions/cast.cpp,
/// split_quantize).
constexpr Seconds kNextQuantised = 8 * kTensor;

/// The kernel as one for each expert.
void launch_each(Launch& launch, std::int64_t experts, Seconds next) {
  launch.more_launches += next * static_cast<double>(experts - 1);
  if (auto* moved = std::get_if<MemoryBound>(&launch.work)) moved->parts = experts;
}

/// Whether the rows of each expert are quantised by themselves. One kernel does it for all with
/// delayed scaling alone (NVIDIA/TransformerEngine
/// transformer_engine/pytorch/csrc/extensions/cast.cpp, multi_tensor_quantize_impl).
bool casts_each(const Pass& pass) {
  return launches_each(pass) && pass.quantisation != Quantisation::delayed;
}

/// Before its products: of rows that came in fp8 only those by columns are missing.
void add_operand(Items& items, const Pass& whole, const std::string& name, double elements,
                 bool arrives, std::int64_t experts) {
  const Pass pass = of_activations(whole);
  if (!arrives || !arrive_quantised(pass)) {
    Items casts;
    add_cast(casts, pass, name + " cast", elements);
    if (casts_each(pass)) {
      for (Item& cast : casts) launch_each(std::get<Launch>(cast), experts, kNextCast);
      if (!casts.empty())
        std::get<Launch>(casts.back()).more_launches +=
            kNextQuantised * static_cast<double>(experts - 1);
    }
    return append(items, casts);
  }
  if (pass.copies == 1) return;
  items.emplace_back(
      memory_bound(name + " transpose", (kFp8Row + quantised_bytes(pass.quantisation)) * elements));
}

void add_weight_casts(Items& items, const Pass& pass, const Rows& rows, const GroupedLinear& l,
                      bool forward) {
  add_weight_cast(items, pass, l.name, static_cast<double>(rows.local * l.in * l.out), forward);
}

/// Transformer Engine launches a product for each expert (transformer_engine/common/gemm/
/// cublaslt_gemm.cu, nvte_multi_tensor_gemm).
void add_product(Items& items, const Pass& pass, Launch product) {
  const std::int64_t experts = std::get<Gemm>(product.work).batch;
  if (launches_each(pass)) {
    auto& gemm = std::get<Gemm>(product.work);
    gemm.grouped = false;
    gemm.one_by_one = true;
    launch_each(product, experts, kNextProduct + kNextOperands);
  }
  items.emplace_back(std::move(product));
}

double output_bytes(const Pass& pass, const Rows& rows, const GroupedLinear& l) {
  return pass.element() * rows.computed * static_cast<double>(l.out);
}

/// Bytes of a number of a row that its expert's last bias costs, weighed by the router as the row
/// is, by operators of PyTorch on each expert's rows (NVIDIA/Megatron-LM
/// megatron/core/transformer/moe/experts.py, _apply_bias), with probabilities in fp32. Forward the
/// product is written (4), added to the row in 16 bits (2 + 4 + 4), joined with other experts' (4 +
/// 4) and narrowed (4 + 2). Backward the gradient is widened (2 + 4), narrowed for the rows (4 +
/// 2), which are joined (2 + 2), multiplied by probabilities and summed over rows (4 + 4 + 4), and
/// by the bias and summed over numbers (4 + 4 + 4).
constexpr double kForwardBias = 28, kBackwardBias = 40;

/// Operators of eager PyTorch for one expert's rows (docs/host.md): forward a product and a sum.
/// Backward the gradient is narrowed for the rows; a product and a sum each make those of the bias,
/// which is narrowed, and of the probabilities.
constexpr double kForwardBiasOfExpert = 2, kBackwardBiasOfExpert = 6;

Launch weighed_bias(const Pass& pass, const Rows& rows, const GroupedLinear& l, const char* what,
                    double bytes, double operators) {
  const double numbers = rows.computed * static_cast<double>(l.out);
  if (!launches_each(pass))  // one kernel for all, which reads rows and writes them
    return memory_bound(std::string(l.name) + what, 2 * pass.element() * numbers);
  Launch launch = memory_bound(std::string(l.name) + what, bytes * numbers);
  launch.more_operators = operators * static_cast<double>(rows.local);
  return launch;
}

void add_forward(Op& op, const Pass& pass, const Rows& rows, const GroupedLinear& l) {
  const std::string name = l.name;
  add_operand(op.forward, pass, name, rows.computed * static_cast<double>(l.in), l.first,
              rows.local);
  add_weight_casts(op.forward, pass, rows, l, true);
  add_product(op.forward, pass, grouped_gemm(name, pass, rows.each, l.out, l.in, rows.local));
  op.parameters.insert(op.parameters.end(), static_cast<std::size_t>(rows.local),
                       static_cast<double>(l.in * l.out));
  if (l.bias && !l.first)
    op.forward.emplace_back(
        weighed_bias(pass, rows, l, " bias", kForwardBias, kForwardBiasOfExpert));
  const MatrixSplit split = pass.expert_mesh.tensor == 1 ? MatrixSplit::none
                            : l.first                    ? MatrixSplit::rows
                                                         : MatrixSplit::columns;
  const Axis axis = pass.expert_mesh.own_tensor ? Axis::expert_tensor : Axis::tensor;
  op.matrices.insert(op.matrices.end(), static_cast<std::size_t>(rows.local),
                     WeightMatrix{l.out, l.in, split, axis});
  if (pass.quantises()) op.quantised += static_cast<double>(rows.local * l.in * l.out);
  if (pass.casts_weights)
    op.weight_copies += Bytes{pass.element() * static_cast<double>(rows.local * l.in * l.out)};
  if (!pass.frozen)
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
              !l.first, rows.local);
  add_product(op.backward, pass,
              grouped_gemm(name + " dgrad", pass, rows.each, l.in, l.out, rows.local,
                           LinearProduct::input_gradient));
  add_product(op.backward, pass,
              grouped_gemm(name + " wgrad", pass, l.in, l.out, rows.each, rows.local,
                           LinearProduct::weight_gradient));
  add_gradient_sum(op.backward, pass, name, static_cast<double>(rows.local * l.in * l.out));
  if (l.bias && l.first)
    op.backward.emplace_back(for_weights(
        memory_bound(name + " bias gradient", output_bytes(pass, rows, l), MemoryRate::norm)));
  if (l.bias && !l.first)
    op.backward.insert(op.backward.begin(), weighed_bias(pass, rows, l, " bias gradient",
                                                         kBackwardBias, kBackwardBiasOfExpert));
  for (std::int64_t i = 0; i < rows.local; ++i) {
    op.backward.emplace_back(GradientReady{static_cast<double>(l.in * l.out), op.expert});
    if (l.bias) op.backward.emplace_back(GradientReady{static_cast<double>(l.out), op.expert});
  }
}

/// Where the exchange that moves the most bytes between ranks of experts is waited for.
Items::iterator end_of_exchange(Items& items) {
  auto longest = items.end(), end = items.end();
  for (auto item = items.begin(); item != items.end(); ++item) {
    const auto* start = std::get_if<StartCollective>(&*item);
    if (start != nullptr && start->axis == Axis::expert &&
        (longest == items.end() || start->bytes > std::get<StartCollective>(*longest).bytes)) {
      longest = item;
      end = items.end();
    }
    const auto* join = std::get_if<Join>(&*item);
    if (join != nullptr && join->axis == Axis::expert && end == items.end()) end = item;
  }
  return end;
}

/// Moves the items behind the start of an exchange, and behind what was moved there before.
void move_beside_exchange(Items& from, Items& exchange) {
  const auto end = end_of_exchange(exchange);
  if (end == exchange.end()) return;
  exchange.insert(end, std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  from.clear();
}

/// What a router of PyTorch launches more than a fused one, with an auxiliary loss (NVIDIA/
/// Megatron-LM megatron/core/transformer/moe/moe_utils.py: topk_routing_with_score_function,
/// compute_routing_scores_for_aux_loss, switch_load_balancing_loss_func). Forward: a top k sorts by
/// a kernel of its own, two maps are zeroed, filled and cast (7); the loss has scores, a top k of
/// two and a map of its own (7), and sums, products and a log (8). Backward: 10.
struct {
  int forward = 23, backward = 10;
} constexpr kRoutingKernels;

/// Kernels that read one number for each logit and write another (fp32).
void add_small(Items& items, const char* name, int kernels, double logits) {
  for (int i = 0; i < kernels; ++i) items.emplace_back(memory_bound(name, 8 * logits));
}

/// Whether rows are copied before the experts and behind them, so that each expert's are a multiple
/// of what products in fp8 take (NVIDIA/Megatron-LM megatron/core/transformer/moe/experts.py,
/// quantization_padding; TransformerEngine's Fp8Padding, which spares the copy where numbers are
/// multiples already): HybridEP's kernel pads on the way, and rows of a capacity are few numbers.
bool pads_by_copies(const Pass& pass) {
  const ExpertParallel& e = pass.experts;
  return pass.quantises() && pass.place.keeps_placeholders && !e.router_padding && !e.capacity &&
         e.dispatcher != Dispatcher::hybrid_ep;
}

void add_padding(Items& items, const Pass& pass, const char* name, double rows_bytes) {
  if (pads_by_copies(pass)) items.emplace_back(memory_bound(name, 2 * rows_bytes));
}

}  // namespace

Op router(const Pass& pass, const ExpertShape& shape) {
  const Experts& e = shape.experts;
  const std::int64_t tokens = pass.outer_tokens();
  const auto logits = static_cast<double>(tokens * e.count);
  Op op;
  op.name = "router";
  op.calls = router_calls(pass);
  op.parameters = {static_cast<double>(shape.hidden * e.count)};
  if (e.bias) op.parameters.push_back(static_cast<double>(e.count));
  op.matrices = {{.rows = e.count, .columns = shape.hidden}};
  op.flops = Flops{2.0 * logits * static_cast<double>(shape.hidden)};
  // The shared experts keep the same input, and what is frozen keeps none.
  const bool keeps = e.shared_ffn == 0 && !pass.frozen;
  const double input = !keeps ? 0 : row_bytes(pass, shape) * static_cast<double>(tokens);
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
  if (!pass.experts.router_fusion) {
    add_small(op.forward, "routing", kRoutingKernels.forward, logits);
    if (pass.tensor > 1)
      add_tensor_collective(op.forward, CollectiveOp::all_reduce,
                            Bytes{8 * static_cast<double>(e.count)});
    add_small(op.backward, "routing backward", kRoutingKernels.backward, logits);
  }
  op.backward.emplace_back(memory_bound("routing map backward", 8 * logits));
  op.backward.emplace_back(memory_bound("router softmax backward",
                                        (4 * 3 + pass.element()) * logits, MemoryRate::softmax));
  op.backward.emplace_back(gemm("router dgrad", pass, tokens, shape.hidden, e.count));
  op.backward.emplace_back(gemm("router wgrad", pass, shape.hidden, e.count, tokens, true));
  for (const double tensor : op.parameters) op.backward.emplace_back(GradientReady{tensor});
  return op;
}

Op expert_mlps(const Pass& pass, const ExpertShape& shape) {
  const Rows rows(pass, shape);
  const std::int64_t ffn = shape.experts.ffn / pass.expert_mesh.tensor;
  const std::int64_t inputs = shape.gated ? 2 : 1;
  const bool bias = shape.experts.bias;
  const GroupedLinear up{"experts up", shape.hidden, inputs * ffn, true, bias};
  const GroupedLinear down{"experts down", ffn, shape.hidden, false, bias};
  const double one = pass.element() * rows.computed * static_cast<double>(ffn);
  Op op;
  op.name = "experts";
  op.calls = expert_calls(pass, rows.local);
  op.expert = pass.expert_mesh.is_own();
  const double all = row_bytes(pass, shape) * rows.computed;
  add_padding(op.forward, pass, "pad rows", all);
  add_forward(op, pass, rows, up);
  ActivationKernels kernels = pass.style->activation("experts activation", one, shape.gated);
  keep_narrow_input(kernels, pass, rows.computed * static_cast<double>(inputs * ffn));
  const Bytes clamped = shape.experts.clamp > 0 ? add_clamps(kernels, pass, one) : Bytes{0};
  append(op.forward, kernels.forward);
  add_forward(op, pass, rows, down);
  for (const GroupedLinear& l : {up, down}) {
    if (l.bias)
      op.parameters.insert(op.parameters.end(), static_cast<std::size_t>(rows.local),
                           static_cast<double>(l.out));
  }
  add_padding(op.forward, pass, "unpad rows", all);
  op.saved += kernels.saved + clamped;
  op.output = Bytes{all};
  op.scratch = Bytes{static_cast<double>(inputs) * one};  // gradients between the two layers
  if (pass.place.keeps_placeholders) {
    op.placeholders = {{up.in, up.out}, {down.in, down.out}};
  } else if (!pass.gathers_parameters && !pass.frozen) {
    op.scratch += Bytes{pass.element() * static_cast<double>(rows.local * up.in * up.out)};
  }
  // What was clamped, and the activation's output, as the second product keeps it.
  op.saved_scores = clamped;
  if (!pass.frozen) op.saved_scores += Bytes{one / pass.element() * pass.linear_element()};
  add_padding(op.backward, pass, "pad gradients", all);
  add_backward(op, pass, rows, down);
  append(op.backward, kernels.backward);
  add_backward(op, pass, rows, up);
  add_padding(op.backward, pass, "unpad gradients", all);
  return op;
}

Pass pass_of_rows(const Pass& pass, const ExpertShape& shape) {
  Pass rows = pass;
  rows.batch = 1;
  rows.sequence = static_cast<std::int64_t>(std::llround(Rows(pass, shape).computed));
  rows.tensor = 1;
  rows.sequence_parallel = false;
  rows.context.degree = 1;
  return rows;
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

}  // namespace stepsim
