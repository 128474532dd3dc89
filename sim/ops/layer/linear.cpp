// Linear layers, split by columns or rows over tensor ranks, with Megatron's collectives around
// them.
//
// Collectives: Korthikanti et al. 2022, section 4.2; what is hidden in backward: NVIDIA/Megatron-LM
// megatron/core/tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication. Where
// the backward pass is split nothing is left to hide them under: the input is gathered right before
// its weight gradient, and the input gradient is reduced in its own pass, both exposed
// (sail-sg/zero-bubble-pipeline-parallelism@3664da6, same file: async_op=False).
//
// DTensor's tensors are [batch, tokens, hidden], split by tokens: what was gathered is one block a
// rank and is copied into place, what is scattered is copied into such blocks before, and the
// gathered input is kept for its weight gradient (pytorch/pytorch
// torch/distributed/_functional_collectives.py, all_gather_tensor and reduce_scatter_tensor with a
// dimension other than 0). Where nothing gathers it for them before, each linear layer of one input
// gathers it, keeps it and scatters its gradient for itself (torch/distributed/tensor/parallel/
// style.py, ColwiseParallel with input_layouts=Shard(1)), and autograd adds the gradients.
//
// Hopper multiplies fp8 tensors whose rows run along the sum. Of weights that are gathered in fp8 a
// copy is turned for the product that needs the other order, which is the forward one; of frozen
// weights for the backward one (see ops/frozen.hpp).
//
// An fp8 tensor that has its scale from itself (current scaling) is read for its largest value,
// 2 B an element, of which another kernel makes the scale, 4 B each (NVIDIA/TransformerEngine
// transformer_engine/common/recipe/current_scaling.cu, amax_kernel and
// compute_scale_from_amax_kernel). An nvfp4 tensor is read for it, too, but makes its scales as it
// is cast.
//
// Layers that share an input quantise it once where tensor ranks gather it, for that comes after
// (pytorch/ao@0e0fba8 torchao/float8/float8_tensor_parallel.py, PrepareFloat8ModuleInput), and
// where a compiler sees that they compute the same (pytorch/pytorch
// torch/_functorch/compile_utils.py, fx_graph_cse). Else each does it for itself.
//
// A bias is added by the matrix product (cuBLASLt epilogue); unfused by a kernel of its own, as in
// the same file of Megatron-LM. That of a row-split layer is added behind the reduction.
#include "sim/ops/layer/layers.hpp"
#include "sim/ops/layer/tensor_collective.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

constexpr Bytes kScale{4};

/// dgrad and wgrad of C = A[m,in] W[in,out], with what runs beside or between them.
struct LinearShape {
  std::int64_t tokens, in, out;
  bool bias;
};

Launch data_gradient(const Pass& pass, const std::string& name, LinearShape s) {
  return linear_gemm(name + " dgrad", pass, s.tokens, s.in, s.out, LinearProduct::input_gradient);
}

void add_weight_gradient(Items& items, const Pass& pass, const std::string& name, LinearShape s) {
  items.emplace_back(
      linear_gemm(name + " wgrad", pass, s.in, s.out, s.tokens, LinearProduct::weight_gradient));
  add_gradient_sum(items, pass, name, static_cast<double>(s.in * s.out));
  if (s.bias) {
    const double bytes = pass.element() * static_cast<double>(s.tokens * s.out);
    items.emplace_back(for_weights(memory_bound(name + " bias gradient", bytes, MemoryRate::norm)));
  }
}

void add_gradients_ready(Items& items, const Op& op) {
  for (auto tensor = op.parameters.rbegin(); tensor != op.parameters.rend(); ++tensor) {
    items.emplace_back(GradientReady{*tensor});
  }
}

/// The weight, of which each tensor rank has a part.
WeightMatrix matrix_of(const Pass& pass, LinearShape s, MatrixSplit split) {
  return {s.out, s.in, pass.tensor > 1 ? split : MatrixSplit::none};
}

/// Whether the layer multiplies what another one has quantised.
bool finds_input_quantised(const Pass& pass) {
  return pass.place.gathered && (pass.style->finds_twins || pass.outer_tokens() < pass.tokens());
}

/// `tokens`: of this rank, before what other tensor ranks have is gathered.
Op linear(const Pass& pass, const std::string& name, LinearShape s, std::int64_t tokens) {
  Op op;
  op.name = name;
  op.calls = pass.style->linear_calls();
  if (!pass.place.keeps_placeholders) op.calls.engine_linears = 0;
  if (pass.quantises()) op.quantised = static_cast<double>(s.in * s.out);
  op.parameters = {static_cast<double>(s.in * s.out)};
  if (s.bias) op.parameters.push_back(static_cast<double>(s.out));
  op.flops = Flops{2.0 * static_cast<double>(s.tokens * s.in) * static_cast<double>(s.out)};
  op.output = Bytes{pass.element() * static_cast<double>(s.tokens * s.out)};
  // The gradient of a weight is added to that of earlier micro-batches; the library hands autograd
  // a new tensor of its size, or an empty one that it keeps.
  if (pass.place.keeps_placeholders) {
    op.placeholders = {{s.in, s.out}};
  } else if (!pass.gathers_parameters && !pass.frozen) {
    op.scratch = Bytes{pass.element() * op.parameters.front()};
  }
  if (pass.casts_weights) op.weight_copies = Bytes{pass.element() * op.parameters.front()};
  if (!finds_input_quantised(pass))
    add_cast(op.forward, of_activations(pass), name + " cast", static_cast<double>(tokens * s.in),
             tokens < s.tokens);
  op.input_casts = static_cast<int>(op.forward.size());
  add_weight_cast(op.forward, pass, name, op.parameters.front(), true);
  add_weight_cast(op.backward, pass, name, op.parameters.front(), false);
  if (pass.transposes_weights && pass.quantises())
    op.backward.emplace_back(
        memory_bound(name + " weight transpose", 2 * pass.linear_element() * op.quantised));
  return op;
}

/// Gathers a tensor and waits for it, unless it may hide under the next kernel.
void add_gather(Items& items, const Pass& pass, const std::string& name, Bytes bytes,
                bool hidden = false, bool for_weights = false) {
  add_tensor_collective(items, CollectiveOp::all_gather, bytes, hidden, for_weights);
  if (pass.copies_shards) items.emplace_back(memory_bound(name + " gathered", 2 * bytes.bytes()));
}

/// Whether tensor ranks that split tokens exchange pieces beside the pieces of a product.
bool splits_products(const Pass& pass) {
  return pass.split_products != SplitProducts::none && pass.gathers_tokens();
}

/// Makes one of so many pieces of a product: a kernel of its own with fewer tokens, or tiles of the
/// one kernel.
void cut(Launch& product, const Pass& pass, std::int64_t pieces) {
  auto& gemm = std::get<Gemm>(product.work);
  if (pass.split_products == SplitProducts::flux) {
    gemm.pieces = static_cast<int>(pieces);
  } else {
    gemm.m /= pieces;
  }
}

/// A product's pieces of the tokens, which tensor ranks gather: each multiplies its own while that
/// of the rank before comes, copied by engines.
void add_gathered_product(Items& items, const Pass& pass, Launch product, Bytes operand) {
  const std::int64_t pieces = pass.tensor;
  cut(product, pass, pieces);
  for (std::int64_t i = 0; i < pieces; ++i) {
    const bool last = i + 1 == pieces;
    if (!last)
      items.emplace_back(StartCollective{.op = CollectiveOp::shift,
                                         .bytes = operand / static_cast<double>(pieces),
                                         .axis = Axis::tensor,
                                         .copied = true});
    items.emplace_back(product);
    product.continues = pass.split_products == SplitProducts::flux;
    if (!last) items.emplace_back(Join{});
  }
}

/// Transformer Engine's default number of pieces (transformer_engine/pytorch/module/base.py,
/// get_default_config of initialize_ub).
constexpr std::int64_t kScatteredPieces = 4;

/// A product's pieces, each scattered while the next one is computed: by a kernel that sums, or by
/// copies to their ranks, which sum them at last (pytorch/pytorch
/// torch/distributed/_symmetric_memory/__init__.py, _fused_matmul_reduce_scatter). Flux's kernel
/// writes its tiles to their ranks itself.
void add_scattered_product(Items& items, const Pass& pass, const std::string& name, Launch product,
                           Bytes result) {
  const bool sums = pass.split_products == SplitProducts::user_buffers;
  const std::int64_t pieces = sums ? kScatteredPieces : pass.tensor;
  const Bytes piece = result / static_cast<double>(pieces);
  cut(product, pass, pieces);
  for (std::int64_t i = 0; i < pieces; ++i) {
    items.emplace_back(product);
    product.continues = pass.split_products == SplitProducts::flux;
    if (sums) {
      items.emplace_back(StartCollective{CollectiveOp::reduce_scatter, piece, Axis::tensor});
    } else if (i + 1 < pieces) {
      items.emplace_back(StartCollective{
          .op = CollectiveOp::shift, .bytes = piece, .axis = Axis::tensor, .copied = true});
    }
  }
  items.emplace_back(Join{});
  if (!sums)
    items.emplace_back(memory_bound(name + " sum of pieces",
                                    result.bytes() * (1 + 1 / static_cast<double>(pieces))));
}

/// Sums a tensor over tensor ranks, each of which gets its tokens of it, or all.
void add_reduction(Items& items, const Pass& pass, const std::string& name, Bytes bytes,
                   bool hidden = false) {
  if (pass.copies_shards) items.emplace_back(memory_bound(name + " to scatter", 2 * bytes.bytes()));
  add_tensor_collective(
      items, pass.sequence_parallel ? CollectiveOp::reduce_scatter : CollectiveOp::all_reduce,
      bytes, hidden);
}

void add_bias(Items& items, const Pass& pass, const std::string& name, LinearShape s) {
  if (!s.bias || !pass.style->adds_bias_by_kernel) return;
  const double output = pass.element() * static_cast<double>(s.tokens * s.out);
  items.emplace_back(memory_bound(name + " bias", 2 * output));
}

void add_product(Items& items, const Pass& pass, const std::string& name, LinearShape s) {
  items.emplace_back(linear_gemm(name, pass, s.tokens, s.out, s.in));
  add_bias(items, pass, name, s);
}

/// The whole tensor of that width as an operand, gathered after it was quantised.
Bytes operand(const Pass& pass, std::int64_t width) {
  return Bytes{pass.linear_element() * static_cast<double>(pass.tokens() * width)};
}

/// The input that is kept: this rank's tokens, or all where it is not gathered again.
Bytes kept_input(const Pass& pass, std::int64_t width) {
  const std::int64_t tokens = pass.copies_shards ? pass.tokens() : pass.outer_tokens();
  return Bytes{pass.linear_element() * static_cast<double>(tokens * width)};
}

/// Autograd adds what the layers of one input have for its gradient, of this rank's tokens.
void add_sums_of_gradients(Items& items, const Pass& pass, const std::string& name,
                           std::int64_t width, int sums) {
  const double input = pass.element() * static_cast<double>(pass.outer_tokens() * width);
  for (int i = 0; i < sums; ++i)
    items.emplace_back(memory_bound(name + " gradient sum", 3 * input));
}

/// What the weight gradient multiplies: the saved input and the whole output gradient.
Bytes kept_for_weights(const Pass& pass, const Op& op, LinearShape s) {
  return op.saved + Bytes{pass.linear_element() * static_cast<double>(s.tokens * s.out)};
}

}  // namespace

void add_gradient_passes(Items& items, const Pass& pass, const std::string& name, double elements) {
  const std::vector<GradientPass>& passes = pass.style->gradient_passes;
  if (!pass.adds_gradients || passes.empty()) return;
  const double gradient = bytes_per_element(pass.training->gradients);
  const auto add = [&](const char* what, double each) {
    items.emplace_back(for_weights(memory_bound(name + " gradient " + what, each * elements)));
  };
  if (pass.element() < gradient) add("cast", pass.element() + gradient);
  for (const GradientPass kind : passes) {
    if (kind != GradientPass::clip && pass.element() >= 4) continue;  // no loss is scaled in fp32
    switch (kind) {
      case GradientPass::unscale:
        add("unscale", 2 * gradient);
        break;
      case GradientPass::check:
        // A byte an element says whether it is finite, and all of them are read again.
        add("check", gradient + 2);
        break;
      case GradientPass::clip:
        add("norm", gradient);
        add("clip", 2 * gradient);
        break;
    }
  }
}

void add_gradient_sum(Items& items, const Pass& pass, const std::string& name, double elements) {
  if (pass.casts_weights)
    items.emplace_back(
        for_weights(memory_bound(name + " weight gradient cast", pass.weight_cast() * elements)));
  if (!pass.adds_gradients) return;
  add_gradient_passes(items, pass, name, elements);
  const double gradient = bytes_per_element(pass.training->gradients);
  const bool is_wide = pass.casts_weights || !pass.style->gradient_passes.empty();
  const double read = is_wide ? gradient : pass.element();
  const double each = read + 2 * gradient;
  items.emplace_back(for_weights(memory_bound(name + " gradient sum", each * elements)));
}

Op column_linear(const Pass& pass, const std::string& name, std::int64_t in, std::int64_t out,
                 bool bias, int layers) {
  const LinearShape s{pass.tokens(), in, out, bias};
  const int gathers = pass.gathers_each ? layers : 1;
  // Autocast casts the input for each layer of it, where no compiler joins them.
  const int casts =
      pass.casts_weights && !pass.style->finds_twins && !pass.style->fused_qkv && !pass.gathers_each
          ? layers - 1
          : 0;
  const bool wide = pass.place.adapted && pass.style->hands_on_gathered && pass.gathers_tokens();
  Op op = linear(pass, name, s, wide ? s.tokens : pass.outer_tokens());
  op.matrices = {matrix_of(pass, s, MatrixSplit::rows)};
  if (!pass.frozen)
    op.saved = op.saved_input = kept_input(pass, in) * static_cast<double>(gathers + casts);
  op.kept_for_weights = kept_for_weights(pass, op, s);
  const bool split = pass.tensor > 1 && !pass.place.gathered;
  const bool hidden = pass.overlap_tensor && !pass.copies_shards;
  add_cast(op.backward, of_activations(pass), name + " gradient cast",
           static_cast<double>(s.tokens * s.out));
  const bool in_pieces = split && splits_products(pass) && gathers == 1 && !wide;
  if (split && pass.sequence_parallel) {
    Items gathered;
    for (int i = 0; i < gathers && !in_pieces; ++i)
      add_gather(gathered, pass, name + " input", wide ? pass.activation(in) : operand(pass, in));
    op.forward.insert(wide ? op.forward.begin() : op.forward.end(), gathered.begin(),
                      gathered.end());
    if (!pass.copies_shards)
      add_gather(op.backward, pass, name + " input", operand(pass, in), hidden, true);
    // The gathered input, and its gradient before it is scattered.
    op.scratch += (pass.frozen ? 1.0 : 2.0) * pass.activation(in);
  }
  if (in_pieces) {
    add_gathered_product(op.forward, pass, linear_gemm(name, pass, s.tokens, s.out, s.in),
                         operand(pass, in));
    add_bias(op.forward, pass, name, s);
  } else {
    add_product(op.forward, pass, name, s);
  }
  op.backward.emplace_back(data_gradient(pass, name, s));
  if (split && pass.sequence_parallel && hidden) op.backward.emplace_back(Join{true});
  for (int i = 0; split && i < gathers; ++i)
    add_reduction(op.backward, pass, name + " input gradient", pass.activation(in), hidden);
  if (gathers > 1) add_sums_of_gradients(op.backward, pass, name, in, gathers - 1);
  const Launch input_cast = memory_bound(
      name + " input cast", pass.weight_cast() * static_cast<double>(pass.outer_tokens() * in));
  for (int i = 0; i < casts; ++i) op.forward.insert(op.forward.begin(), input_cast);
  add_weight_gradient(op.backward, pass, name, s);
  if (split && hidden) op.backward.emplace_back(Join{});
  add_gradients_ready(op.backward, op);
  return op;
}

Op row_linear(const Pass& pass, const std::string& name, std::int64_t in, std::int64_t out,
              bool bias) {
  // The bias is added after the reduction, by the kernel that follows; its gradient is taken there
  // too.
  const LinearShape s{pass.tokens(), in, out, false};
  Op op = linear(pass, name, s, s.tokens);
  op.matrices = {matrix_of(pass, s, MatrixSplit::columns)};
  const bool in_pieces = splits_products(pass);
  if (in_pieces) {
    add_scattered_product(op.forward, pass, name, linear_gemm(name, pass, s.tokens, out, in),
                          pass.activation(out));
  } else {
    add_product(op.forward, pass, name, s);
  }
  if (bias) op.parameters.push_back(static_cast<double>(out));
  if (!pass.frozen)
    op.saved = op.saved_input =
        Bytes{pass.linear_element() * static_cast<double>(pass.tokens() * in)};
  op.kept_for_weights = kept_for_weights(pass, op, s);
  add_cast(op.backward, of_activations(pass), name + " gradient cast",
           static_cast<double>(pass.outer_tokens() * out), pass.outer_tokens() < s.tokens);
  const Bytes output = pass.activation(out);
  op.output = Bytes{pass.element() * static_cast<double>(pass.outer_tokens() * out)};
  if (pass.tensor > 1) {
    if (!in_pieces) add_reduction(op.forward, pass, name + " output", output);
    if (pass.sequence_parallel) op.scratch += output;
    if (pass.sequence_parallel && !in_pieces)
      add_gather(op.backward, pass, name + " output gradient", operand(pass, out));
  }
  if (in_pieces) {
    add_gathered_product(op.backward, pass, data_gradient(pass, name, s), operand(pass, out));
  } else {
    op.backward.emplace_back(data_gradient(pass, name, s));
  }
  add_weight_gradient(op.backward, pass, name, s);
  add_gradients_ready(op.backward, op);
  return op;
}

Op replicated_linear(const Pass& pass, const std::string& name, std::int64_t in, std::int64_t out,
                     bool saves_input, bool bias) {
  const LinearShape s{pass.outer_tokens(), in, out, bias};
  Op op = linear(pass, name, s, s.tokens);
  op.matrices = {{.rows = out, .columns = in}};
  add_product(op.forward, pass, name, s);
  if (!pass.sequence_parallel) op.flops = op.flops / static_cast<double>(pass.tensor);
  if (saves_input && !pass.frozen)
    op.saved = op.saved_input = Bytes{pass.linear_element() * static_cast<double>(s.tokens * in)};
  add_cast(op.backward, of_activations(pass), name + " gradient cast",
           static_cast<double>(s.tokens * out));
  op.backward.emplace_back(data_gradient(pass, name, s));
  add_weight_gradient(op.backward, pass, name, s);
  add_gradients_ready(op.backward, op);
  return op;
}

void add_cast(Items& items, const Pass& pass, const std::string& name, double elements,
              bool is_gathered) {
  if (!pass.quantises()) return;
  const double largest = largest_bytes(pass.quantisation);
  const auto add = [&](const std::string& kernel, double bytes) {
    Launch launch = memory_bound(kernel, bytes * elements);
    std::get<MemoryBound>(launch.work).slower = cast_slower(pass.quantisation);
    items.emplace_back(launch);
  };
  if (largest > 0) add(name + " amax", largest);
  if (largest > 0 && is_gathered) add_tensor_collective(items, CollectiveOp::all_reduce, kScale);
  if (pass.quantisation == Quantisation::current)
    items.emplace_back(memory_bound(name + " scale", 2 * kScale.bytes()));
  add(name, cast_bytes(pass.quantisation, pass.copies) - largest);
}

void add_weight_cast(Items& items, const Pass& pass, const std::string& name, double elements,
                     bool forward) {
  if (pass.casts_weights && forward)
    items.emplace_back(memory_bound(name + " weight cast", pass.weight_cast() * elements));
  if (!pass.recast_weights || !pass.quantises()) return;
  if (!pass.gathers_quantised) return add_cast(items, pass, name + " weight cast", elements);
  if (!forward || pass.copies == 1 || pass.transposes_weights) return;
  items.emplace_back(
      memory_bound(name + " weight transpose", 2 * quantised_bytes(pass.quantisation) * elements));
}

namespace {

/// Rows in memory have the widths of features: forward and for the input m counts tokens, for the
/// weights k does. cuBLAS before 11 uses no tensor cores where these are not of 16 B (NVIDIA,
/// Matrix Multiplication Background User's Guide, table 1): even ones are multiplied as in fp32.
/// Odd ones keep what was measured with tensor cores at hand, for that is slower than fp32 is.
Gemm aligned(Gemm gemm, const Pass& pass) {
  if (pass.pads_rows) return gemm;
  gemm.alignment = alignment_of(gemm.weight_gradient ? gemm.m : gemm.k, gemm.n);
  const bool even = gemm.alignment > 1 && gemm.alignment < kAlignedElements;
  if (pass.aligned_tensor_cores && even && bytes_per_element(gemm.precision) == 2)
    gemm.precision = Precision::fp32;
  return gemm;
}

Launch product_of(const std::string& name, Gemm gemm, const Pass& pass, LinearProduct product) {
  const bool for_weights = product == LinearProduct::weight_gradient;
  gemm.weight_gradient = for_weights;
  gemm.split_accumulator = product != LinearProduct::forward && gemm.precision == Precision::fp8;
  gemm.blockwise = pass.quantises() && pass.quantisation == Quantisation::blockwise;
  // An expert has few rows to sum up, so that its gradient is most of what its product moves. With
  // all of a micro-batch's tokens it hardly counts: `weight_gradient` of a profile has it.
  if (for_weights && gemm.grouped) gemm.adds_to = pass.fused_gradient;
  return {name, aligned(gemm, pass), for_weights};
}

}  // namespace

Launch linear_gemm(const std::string& name, const Pass& pass, std::int64_t m, std::int64_t n,
                   std::int64_t k, LinearProduct product) {
  return product_of(name, {.m = m, .n = n, .k = k, .precision = pass.linear}, pass, product);
}

Launch grouped_gemm(const std::string& name, const Pass& pass, std::int64_t m, std::int64_t n,
                    std::int64_t k, std::int64_t groups, LinearProduct product) {
  const Gemm gemm{
      .m = m, .n = n, .k = k, .batch = groups, .precision = pass.linear, .grouped = true};
  return product_of(name, gemm, pass, product);
}

Launch gemm(const std::string& name, const Pass& pass, std::int64_t m, std::int64_t n,
            std::int64_t k, bool weight_gradient, std::int64_t batch) {
  return {name, aligned({m, n, k, batch, weight_gradient, pass.precision}, pass), weight_gradient};
}

}  // namespace stepsim
