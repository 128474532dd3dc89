// Forward, backward and update as calls of the kernels in calib/cpu.
#include "validate/trainer/mlp.hpp"

#include <cmath>
#include <random>

#include "calib/cpu/gemm.hpp"
#include "calib/cpu/loops.hpp"

namespace stepsim::trainer {

using cpu::Pass;

Mlp::Mlp(const Shape& shape, std::uint64_t seed) : shape_(shape) {
  const std::size_t tensor = batch_size();
  const auto layer = static_cast<std::size_t>(shape.width * shape.width);
  const auto layers = static_cast<std::size_t>(shape.layers);
  for (auto* all : {&weights_, &gradients_, &first_moment_, &second_moment_})
    all->assign(layer * layers, 0.0F);
  inputs_.assign(layers + 1, std::vector<float>(tensor));
  linears_.assign(layers, std::vector<float>(tensor));
  for (auto* one : {&target_, &difference_, &gradient_, &other_gradient_})
    one->assign(tensor, 0.0F);
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, std::sqrt(2.0F / static_cast<float>(shape.width)));
  for (float& weight : weights_) weight = normal(random);
}

std::span<float> Mlp::of_layer(std::vector<float>& all, int layer) const {
  const auto size = static_cast<std::size_t>(shape_.width * shape_.width);
  return {all.data() + size * static_cast<std::size_t>(shape_.layers - 1 - layer), size};
}

double Mlp::forward(std::span<const float> input, std::span<const float> target) {
  const std::size_t size = batch_size();
  cpu::copy(input.data(), inputs_.front().data(), size);
  cpu::copy(target.data(), target_.data(), size);
  for (int layer = 0; layer < shape_.layers; ++layer) {
    const auto l = static_cast<std::size_t>(layer);
    cpu::multiply(Pass::forward, {shape_.batch, shape_.width, shape_.width}, inputs_[l].data(),
                  of_layer(weights_, layer).data(), linears_[l].data(), false);
    cpu::relu(linears_[l].data(), inputs_[l + 1].data(), size);
  }
  return cpu::squared_error(inputs_.back().data(), target_.data(), difference_.data(), size) /
         static_cast<double>(size);
}

void Mlp::backward(const std::function<void(std::span<float>)>& completed,
                   const std::function<void()>& between) {
  const std::size_t size = batch_size();
  cpu::squared_error_backward(inputs_.back().data(), target_.data(), gradient_.data(),
                              1.0F / static_cast<float>(size), size);
  for (int layer = shape_.layers - 1; layer >= 0; --layer) {
    const auto l = static_cast<std::size_t>(layer);
    between();
    cpu::relu_backward(linears_[l].data(), gradient_.data(), gradient_.data(), size);
    between();
    // Of the first layer, too: what stands before it is left out, not absent.
    cpu::multiply(Pass::input_gradient, {shape_.batch, shape_.width, shape_.width},
                  gradient_.data(), of_layer(weights_, layer).data(), other_gradient_.data(),
                  false);
    between();
    const std::span<float> of_weights = of_layer(gradients_, layer);
    cpu::multiply(Pass::weight_gradient, {shape_.width, shape_.width, shape_.batch},
                  gradient_.data(), inputs_[l].data(), of_weights.data(), true);
    completed(of_weights);
    gradient_.swap(other_gradient_);
  }
}

void Mlp::update(float learning_rate) {
  cpu::adam({weights_.data(), gradients_.data(), first_moment_.data(), second_moment_.data()},
            learning_rate, ++steps_, weights_.size());
  cpu::clear(gradients_.data(), gradients_.size());
}

}  // namespace stepsim::trainer
