// Pooling: what a convolutional network has around its convolutions.
#include "sim/ops/layer/image_layers.hpp"

namespace stepsim {
namespace {

constexpr double kIndexBytes = 8;  // max_pool2d_with_indices keeps int64

}  // namespace

Op max_pool(const Pass& pass, const Images& in) {
  const double input = pass.element() * in.elements();
  const double outputs = convolved(in, {in.channels, 3, 2}).elements();
  const double output = (pass.element() + kIndexBytes) * outputs;
  Op op;
  op.name = "max pool";
  op.forward.emplace_back(memory_bound("max pool", input + output));
  op.backward.emplace_back(memory_bound("max pool backward", output + input));
  op.output = Bytes{pass.element() * outputs};
  op.saved = Bytes{input + kIndexBytes * outputs};
  return op;
}

Op average_pool(const Pass& pass, const Images& in) {
  const double input = pass.element() * in.elements();
  const double output = pass.element() * static_cast<double>(in.batch * in.channels);
  Op op;
  op.name = "average pool";
  op.forward.emplace_back(memory_bound("average pool", input + output));
  op.backward.emplace_back(memory_bound("average pool backward", output + input));
  op.output = Bytes{output};
  op.saved = Bytes{input};
  return op;
}

}  // namespace stepsim
