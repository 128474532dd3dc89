// Operations that are written in elementary ones, each of which is a kernel.
//
// What TensorFlow 1.15 runs without XLA; a tensor is one of the operation's input, small ones (a
// number a row, a parameter a column) count nothing.
// - GELU by its tanh (google-research/bert modeling.py, gelu): the cube (2 tensors), scaled (2),
//   added (3), scaled (2), tanh (2), plus one (2), halved (2), times the input (3); backward the
//   products' gradients (3 and 3), halved (2), tanh's (3), scaled (2) and scaled (2), the cube's as
//   a power times what it was times the gradient (2, 2 and 3), and the sum of three gradients (4).
// - Norms of moments (tensorflow/contrib/layers/python/layers/layers.py, layer_norm;
//   tensorflow/python/ops/nn_impl.py, moments and batch_normalization): mean (1),
//   squared difference (2) and its mean (1), root times weight as a whole tensor (1), input and
//   mean times that (3 and 2), bias less the second (2), sum (3). Backward, as math_grad.py has it:
//   both factors' gradients (3 and 3), the bias's (1), negated (2), the mean's (3 and 1), the
//   factor's once more (2) and summed (3), the root's (2 and 1) and the weight's (2 and 1), the
//   variance's spread (1), divided (2), and times twice the difference (2, 2 and 3), the mean's
//   spread and divided (1 and 2), and the sum of three gradients (4).
// - Dropout (nn_ops.py, dropout_v2): random numbers in fp32, compared, cast, the input scaled (2)
//   and multiplied (3); backward multiplied (3) and scaled (2).
// - Softmax (tensorflow/core/kernels/softmax_op_gpu.cu.cc): the largest of a row (1), the sum of
//   exponentials (1), the quotients (2); backward (nn_grad.py, _SoftmaxGrad) product (3), its sum
//   (1), difference (2), product (3).
#include "sim/ops/style/composed.hpp"

#include "sim/ops/style/kernels.hpp"

namespace stepsim {
namespace {

/// Kernels one after the other, of so many bytes each.
void add(Items& items, const std::string& name, const std::vector<double>& bytes,
         MemoryRate rate = MemoryRate::elementwise) {
  for (const double each : bytes) items.emplace_back(memory_bound(name, each, rate));
}

std::vector<double> times(double one, std::vector<double> tensors) {
  for (double& each : tensors) each *= one;
  return tensors;
}

Items norm_forward(const std::string& name, double one) {
  Items items;
  add(items, name + " mean", {one}, MemoryRate::norm);
  add(items, name + " difference", {2 * one});
  add(items, name + " variance", {one}, MemoryRate::norm);
  add(items, name, times(one, {1, 3, 2, 2, 3}));
  return items;
}

Items norm_backward(const std::string& name, double one) {
  Items items;
  const std::string products = name + " backward";
  const std::string sums = name + " backward sum";
  add(items, products, times(one, {3, 3}));
  items.emplace_back(for_weights(memory_bound(name + " bias gradient", one, MemoryRate::norm)));
  add(items, products, times(one, {2, 3}));
  add(items, sums, {one}, MemoryRate::norm);
  add(items, products, times(one, {2, 3, 2}));
  add(items, sums, {one}, MemoryRate::norm);
  items.emplace_back(for_weights(memory_bound(name + " weight gradient", 2 * one)));
  items.emplace_back(
      for_weights(memory_bound(name + " weight gradient sum", one, MemoryRate::norm)));
  add(items, products, times(one, {1, 2, 2, 2, 3, 1, 2, 4}));
  return items;
}

Items dropout_forward(const Pass& pass, const std::string& name, double elements) {
  constexpr double kRandom = 4;  // fp32
  constexpr double kKept = 1;    // a byte each
  Items items;
  add(items, name + " numbers", {kRandom * elements, (kRandom + kKept) * elements});
  add(items, name + " mask", {(kKept + pass.element()) * elements});
  add(items, name, times(pass.element() * elements, {2, 3}));
  return items;
}

Items dropout_backward(const Pass& pass, const std::string& name, double elements) {
  Items items;
  add(items, name, times(pass.element() * elements, {3, 2}));
  return items;
}

/// The mask that multiplies, as wide as what it multiplies.
double mask_bytes(const Pass& pass, double elements) { return pass.element() * elements; }

Items softmax_forward(double one, double /*rows*/) {
  Items items;
  add(items, "softmax", times(one, {1, 1, 2}), MemoryRate::softmax);
  return items;
}

Items softmax_backward(double one) {
  Items items;
  add(items, "softmax backward", {3 * one});
  add(items, "softmax backward sum", {one}, MemoryRate::norm);
  add(items, "softmax backward", times(one, {2, 3}));
  return items;
}

}  // namespace

void composed_norm(Op& op, const Pass& pass, const NormShape& n) {
  if (n.rms) return eager_style().norm(op, pass, n);
  const double one = pass.element() * n.elements;
  op.forward = norm_forward(n.name, one);
  op.backward = norm_backward(n.name, one);
  op.saved = Bytes{2 * one};  // the input, and what multiplies it
}

ActivationKernels composed_activation(const std::string& name, double one, bool gated) {
  if (gated) return eager_style().activation(name, one, true);
  Items forward, backward;
  add(forward, name, times(one, {2, 2, 3, 2, 2, 2, 2, 3}));
  add(backward, name + " backward", times(one, {3, 3, 2, 3, 2, 2, 2, 2, 3, 4}));
  // The input, its cube, the tanh, and what multiplies the input are kept.
  return {std::move(forward), std::move(backward), Bytes{4 * one}};
}

DropoutKernels composed_dropout() { return {dropout_forward, dropout_backward, mask_bytes}; }

RowSoftmax composed_row_softmax() { return {softmax_forward, softmax_backward}; }

}  // namespace stepsim
