// A stack of equal linear layers with an activation each, and its training step: what a scenario's
// `model: {kind: mlp}` describes (sim/ops/mlp.cpp), kernel by kernel.
//
// Gradients lie in the order in which the backward pass completes them, so that a bucket is one
// piece of memory.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "validate/trainer/device.hpp"

namespace stepsim::trainer {

struct Shape {
  int layers = 4;
  std::int64_t width = 512;
  std::int64_t batch = 64;  ///< samples of one rank
};

class Mlp {
 public:
  /// Draws weights from a normal distribution of variance 2 / width (He et al. 2015); equal seeds
  /// give equal weights.
  Mlp(Device& device, const Shape& shape, std::uint64_t seed);

  std::size_t batch_size() const { return static_cast<std::size_t>(shape_.batch * shape_.width); }

  /// Runs a forward pass. REQUIRES: input and target of batch_size() elements, in the host's
  /// memory.
  void forward(std::span<const float> input, std::span<const float> target);
  /// The mean squared error of the last forward(); waits for it.
  double loss();
  /// Runs a backward pass, which adds to the gradients. Calls `completed` with the gradients of a
  /// layer as soon as it has them, and `between` after every kernel.
  void backward(const std::function<void(std::span<float>)>& completed,
                const std::function<void()>& between);
  /// Updates the weights by Adam, then sets the gradients to zero.
  void update(float learning_rate);

  /// The weights, in the device's memory.
  std::span<float> weights() { return weights_.all(); }
  std::span<float> gradients() { return gradients_.all(); }

 private:
  std::span<float> of_layer(const Floats& all, int layer) const;

  Device& device_;
  Shape shape_;
  int steps_ = 0;
  Floats weights_, gradients_, first_moment_, second_moment_;
  std::vector<Floats> inputs_;   // input of each layer; the last one is the output of the model
  std::vector<Floats> linears_;  // output of each linear layer, before its activation
  Floats target_, difference_, gradient_, other_gradient_;
};

}  // namespace stepsim::trainer
