// W x + B A x: the products with A and B, and what stands around them.
//
// Kernels and collectives are those of NVIDIA-NeMo/Megatron-Bridge
// src/megatron/bridge/peft/utils.py (ParallelLinearAdapter) and lora_layers.py (LoRALinear),
// NVIDIA/NeMo before it; on one tensor rank they are those of huggingface/peft
// src/peft/tuners/lora/layer.py, too: dropout of the input, A, B, the product scaled, and added to
// the layer's output, each a kernel. A and B are linear layers of Megatron-LM in 16 bits, whatever
// the frozen ones are multiplied in.
//
// Beside a layer split by outputs, A is split by its outputs, which are gathered, and B by its own.
// With sequence parallelism A needs all tokens: Transformer Engine's layers hand on what they have
// gathered, which then is in 16 bits, and scatter the sum of both gradients; others leave that to
// the adapter, which gathers and scatters for itself. Without it A's input gradient is summed over
// ranks beside the layer's own. Beside a layer split by inputs, A is split by its inputs and its
// outputs are summed, and B is split by its outputs, which are gathered, or with sequence
// parallelism exchanged for this rank's tokens. B's input gradient is summed over ranks under its
// weight gradient (NVIDIA/Megatron-LM megatron/core/tensor_parallel/layers.py, allreduce_dgrad).
//
// DTensor's adapters (NVIDIA-NeMo/Automodel nemo_automodel/components/distributed/
// parallel_styles.py, ColwiseParallelLora and RowwiseParallelLora; components/_peft/lora.py) read
// what the layer has gathered and add partial sums to its own, forward beside a layer split by
// inputs and backward beside one split by outputs, so that what is exchanged besides is as narrow as
// the rank: A's outputs are gathered beside the latter and scattered beside the former, where B is
// split by its inputs. They are scaled before B.
#include "sim/ops/layer/adapter.hpp"

#include "sim/ops/layer/tensor_collective.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

/// The parts of an adapter, which write into one op.
class AdapterWriter {
 public:
  AdapterWriter(const Pass& pass, const Lora& lora, const AdapterShape& shape)
      : pass_(unquantised(pass)), lora_(lora), shape_(shape), name_(shape.name + " adapter") {
    op_.name = name_;
    op_.adapter = true;
    op_.calls = pass.style->modules.linear.times(2);
    op_.calls.modules += 2;  // the adapter, and what holds it and the layer
  }

  bool is_split() const { return pass_.tensor > 1; }
  double bytes(std::int64_t tokens, std::int64_t width) const {
    return pass_.element() * static_cast<double>(tokens * width);
  }

  void move(Items& items, const char* what, double moved) const {
    items.emplace_back(memory_bound(name_ + what, moved));
  }
  void exchange(Items& items, CollectiveOp op, Bytes message) const {
    add_tensor_collective(items, op, message);
  }

  void drop_input(std::int64_t tokens) {
    if (!lora_.dropout) return;
    const auto elements = static_cast<double>(tokens * shape_.in);
    append(op_.forward, pass_.style->dropout.forward(pass_, name_ + " dropout", elements));
    op_.saved += Bytes{pass_.style->dropout.mask_bytes(pass_, elements)};
  }
  void drop_input_gradient(std::int64_t tokens) {
    if (!lora_.dropout) return;
    append(op_.backward, pass_.style->dropout.backward(pass_, name_ + " dropout backward",
                                                       static_cast<double>(tokens * shape_.in)));
  }

  void add_to_output(std::int64_t tokens, std::int64_t width) {
    const double one = bytes(tokens, width);
    if (!pass_.style->joins_chains && !pass_.dtensor) move(op_.forward, " scale", 2 * one);
    move(op_.forward, " sum", 3 * one);
  }
  void scale_output_gradient(std::int64_t tokens, std::int64_t width) {
    const double one = bytes(tokens, width);
    move(op_.backward, " scale backward", 2 * one);
    op_.scratch += Bytes{one};
  }
  void add_to_input_gradient(std::int64_t tokens) {
    move(op_.backward, " gradient sum", 3 * bytes(tokens, shape_.in));
  }

  /// C = x W, of which backward may need x again.
  void multiply(const char* what, std::int64_t in, std::int64_t out) {
    add_weight_cast(op_.forward, pass_, name_ + what, static_cast<double>(in * out), true);
    if (pass_.casts_weights)
      op_.weight_copies += Bytes{pass_.element() * static_cast<double>(in * out)};
    op_.forward.emplace_back(gemm(name_ + what, pass_, pass_.tokens(), out, in));
    op_.parameters.push_back(static_cast<double>(in * out));
    op_.flops += Flops{2.0 * static_cast<double>(pass_.tokens() * in) * static_cast<double>(out)};
    op_.kept_for_weights += Bytes{bytes(pass_.tokens(), in + out)};
  }
  void multiply_gradient(const char* what, std::int64_t in, std::int64_t out) {
    op_.backward.emplace_back(gemm(name_ + what + " dgrad", pass_, pass_.tokens(), in, out));
  }
  void find_weight_gradient(const char* what, std::int64_t in, std::int64_t out) {
    op_.backward.emplace_back(gemm(name_ + what + " wgrad", pass_, in, out, pass_.tokens(), true));
    add_gradient_sum(op_.backward, pass_, name_ + what, static_cast<double>(in * out));
    op_.backward.emplace_back(GradientReady{static_cast<double>(in * out)});
  }

  /// Backward of B, whose input gradient each tensor rank has a part of.
  void backward_of_b(std::int64_t out) {
    multiply_gradient(" B", lora_.rank, out);
    if (is_split())
      add_tensor_collective(op_.backward, CollectiveOp::all_reduce, pass_.activation(lora_.rank),
                            true);
    find_weight_gradient(" B", lora_.rank, out);
    if (is_split()) op_.backward.emplace_back(Join{});
  }

  /// Weight gradients that come later share what is not kept for this adapter alone.
  void share_input() {
    if (!keeps_input()) op_.kept_for_weights -= input();
  }

  /// What dropout has made is not what enters.
  Op finish() {
    if (keeps_input()) op_.saved += input();
    if (keeps_input() && !lora_.dropout) op_.saved_input = input();
    op_.saved += Bytes{bytes(pass_.tokens(), lora_.rank)};
    if (shape_.needs_input_gradient) op_.scratch += Bytes{bytes(pass_.tokens(), shape_.in)};
    return std::move(op_);
  }

  Items& forward() { return op_.forward; }
  Items& backward() { return op_.backward; }
  const Pass& pass() const { return pass_; }

 private:
  Bytes input() const { return Bytes{bytes(pass_.tokens(), shape_.in)}; }
  bool keeps_input() const { return lora_.dropout || shape_.saves_input; }

  const Pass pass_;
  const Lora& lora_;
  const AdapterShape& shape_;
  const std::string name_;
  Op op_;
};

/// Whether the layer beside it does not hand on what it has gathered.
bool gathers_for_itself(const Pass& pass) {
  return pass.gathers_tokens() && !pass.style->hands_on_gathered && !pass.dtensor;
}

/// An exchange of A's outputs or of their gradients, of which a rank has a part on one side.
void exchange_low(AdapterWriter& w, Items& items, const Lora& lora, CollectiveOp op) {
  const Bytes low = w.pass().activation(lora.rank);
  const bool gathers = op == CollectiveOp::all_gather;
  if (!gathers) w.move(items, " A to scatter", 2 * low.bytes());
  w.exchange(items, op, low);
  if (gathers) w.move(items, " A gathered", 2 * low.bytes());
}

/// Scales A's outputs, or their gradients, `width` of them on this rank.
void scale_low(AdapterWriter& w, Items& items, const char* what, std::int64_t width) {
  w.move(items, what, 2 * w.bytes(w.pass().tokens(), width));
}

/// Both of DTensor's adapters: A makes so many outputs on this rank, and B takes so many.
struct DtensorShape {
  std::int64_t made, taken;
  CollectiveOp forward, backward;  ///< of A's outputs and of their gradients
};

Op dtensor_adapter(const Pass& pass, const Lora& lora, const AdapterShape& shape,
                   const DtensorShape& how) {
  AdapterWriter w(pass, lora, shape);
  w.drop_input(pass.tokens());
  w.multiply(" A", shape.in, how.made);
  w.share_input();
  exchange_low(w, w.forward(), lora, how.forward);
  scale_low(w, w.forward(), " scale", how.taken);
  w.multiply(" B", how.taken, shape.out);
  w.add_to_output(pass.tokens(), shape.out);
  w.multiply_gradient(" B", how.taken, shape.out);
  w.find_weight_gradient(" B", how.taken, shape.out);
  scale_low(w, w.backward(), " scale backward", how.taken);
  exchange_low(w, w.backward(), lora, how.backward);
  if (shape.needs_input_gradient) w.multiply_gradient(" A", shape.in, how.made);
  w.find_weight_gradient(" A", shape.in, how.made);
  if (shape.needs_input_gradient) {
    w.drop_input_gradient(pass.tokens());
    w.add_to_input_gradient(pass.tokens());
  }
  return w.finish();
}

void add_column_backward(AdapterWriter& w, const Lora& lora, const AdapterShape& shape) {
  const Pass& pass = w.pass();
  const std::int64_t share = lora.rank / pass.tensor;
  const bool gathers = gathers_for_itself(pass);
  const std::int64_t own = gathers ? pass.outer_tokens() : pass.tokens();
  w.scale_output_gradient(pass.tokens(), shape.out);
  w.backward_of_b(shape.out);
  if (w.is_split()) w.move(w.backward(), " A gradient part", 2 * w.bytes(pass.tokens(), share));
  const bool sums = shape.needs_input_gradient && w.is_split() && !pass.sequence_parallel;
  if (shape.needs_input_gradient) w.multiply_gradient(" A", shape.in, share);
  if (sums)
    add_tensor_collective(w.backward(), CollectiveOp::all_reduce, pass.activation(shape.in), true);
  w.find_weight_gradient(" A", shape.in, share);
  if (sums) w.backward().emplace_back(Join{});
  if (!shape.needs_input_gradient) return;
  if (gathers) w.exchange(w.backward(), CollectiveOp::reduce_scatter, pass.activation(shape.in));
  w.drop_input_gradient(own);
  w.add_to_input_gradient(own);
}

/// B's outputs to the ranks that add them.
void hand_out(AdapterWriter& w, const Lora& lora, std::int64_t out) {
  if (!w.is_split()) return;
  const Bytes whole = w.pass().activation(out);
  const Bytes part = whole / static_cast<double>(w.pass().tensor);
  if (lora.all_to_all && w.pass().sequence_parallel) {
    w.exchange(w.forward(), CollectiveOp::all_to_all, part);
    w.move(w.forward(), " widths joined", 2 * part.bytes());
    return;
  }
  w.exchange(w.forward(), CollectiveOp::all_gather, whole);
  w.move(w.forward(), " gathered", 2 * whole.bytes());
}

/// Adds the gradients' way back.
void hand_back(AdapterWriter& w, const Lora& lora, std::int64_t out) {
  if (!w.is_split()) return;
  const Bytes whole = w.pass().activation(out);
  const Bytes part = whole / static_cast<double>(w.pass().tensor);
  if (lora.all_to_all && w.pass().sequence_parallel) {
    w.move(w.backward(), " widths parted", 2 * part.bytes());
    w.exchange(w.backward(), CollectiveOp::all_to_all, part);
    w.move(w.backward(), " tokens joined", 2 * part.bytes());
    return;
  }
  if (w.pass().sequence_parallel) w.exchange(w.backward(), CollectiveOp::all_gather, whole);
  w.move(w.backward(), " gradient part", 2 * part.bytes());
}

}  // namespace

Op column_adapter(const Pass& pass, const Lora& lora, const AdapterShape& shape) {
  const std::int64_t share = lora.rank / pass.tensor;
  if (pass.dtensor && pass.tensor > 1)
    return dtensor_adapter(
        pass, lora, shape,
        {share, lora.rank, CollectiveOp::all_gather, CollectiveOp::reduce_scatter});
  AdapterWriter w(pass, lora, shape);
  const bool gathers = gathers_for_itself(pass);
  w.drop_input(gathers ? pass.outer_tokens() : pass.tokens());
  if (gathers) w.exchange(w.forward(), CollectiveOp::all_gather, w.pass().activation(shape.in));
  w.multiply(" A", shape.in, share);
  w.share_input();
  if (w.is_split()) {
    const Bytes low = w.pass().activation(lora.rank);
    w.exchange(w.forward(), CollectiveOp::all_gather, low);
    w.move(w.forward(), " A gathered", 2 * low.bytes());
  }
  w.multiply(" B", lora.rank, shape.out);
  w.add_to_output(pass.tokens(), shape.out);
  add_column_backward(w, lora, shape);
  return w.finish();
}

Op row_adapter(const Pass& pass, const Lora& lora, const AdapterShape& shape) {
  if (pass.dtensor && pass.tensor > 1)
    return dtensor_adapter(pass, lora, shape,
                           {lora.rank, lora.rank / pass.tensor, CollectiveOp::reduce_scatter,
                            CollectiveOp::all_gather});
  AdapterWriter w(pass, lora, shape);
  w.drop_input(pass.tokens());
  w.multiply(" A", shape.in, lora.rank);
  if (w.is_split())
    w.exchange(w.forward(), CollectiveOp::all_reduce, w.pass().activation(lora.rank));
  w.multiply(" B", lora.rank, shape.out / pass.tensor);
  hand_out(w, lora, shape.out);
  w.add_to_output(pass.outer_tokens(), shape.out);
  w.scale_output_gradient(pass.outer_tokens(), shape.out);
  hand_back(w, lora, shape.out);
  w.backward_of_b(shape.out / pass.tensor);
  if (shape.needs_input_gradient) w.multiply_gradient(" A", shape.in, lora.rank);
  w.find_weight_gradient(" A", shape.in, lora.rank);
  if (shape.needs_input_gradient) {
    w.drop_input_gradient(pass.tokens());
    w.add_to_input_gradient(pass.tokens());
  }
  return w.finish();
}

}  // namespace stepsim
