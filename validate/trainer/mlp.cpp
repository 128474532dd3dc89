// Runs forward, backward and update as calls of the device's kernels.
#include "validate/trainer/mlp.hpp"

#include <cmath>
#include <random>
#include <utility>

namespace stepsim::trainer {

using cpu::Pass;

Mlp::Mlp(Device& device, const Shape& shape, std::uint64_t seed) : device_(device), shape_(shape) {
  const std::size_t tensor = batch_size();
  const auto layers = static_cast<std::size_t>(shape.layers);
  const std::size_t parameters = static_cast<std::size_t>(shape.width * shape.width) * layers;
  for (auto* all : {&weights_, &gradients_, &first_moment_, &second_moment_})
    *all = device.allocate(parameters);
  for (std::size_t layer = 0; layer <= layers; ++layer) inputs_.push_back(device.allocate(tensor));
  for (std::size_t layer = 0; layer < layers; ++layer) linears_.push_back(device.allocate(tensor));
  for (auto* one : {&target_, &difference_, &gradient_, &other_gradient_})
    *one = device.allocate(tensor);
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, std::sqrt(2.0F / static_cast<float>(shape.width)));
  std::vector<float> drawn(parameters);
  for (float& weight : drawn) weight = normal(random);
  device.upload(drawn.data(), weights_.data(), parameters);
}

std::span<float> Mlp::of_layer(const Floats& all, int layer) const {
  const auto size = static_cast<std::size_t>(shape_.width * shape_.width);
  return {all.data() + size * static_cast<std::size_t>(shape_.layers - 1 - layer), size};
}

void Mlp::forward(std::span<const float> input, std::span<const float> target) {
  const std::size_t size = batch_size();
  device_.upload(input.data(), inputs_.front().data(), size);
  device_.upload(target.data(), target_.data(), size);
  for (int layer = 0; layer < shape_.layers; ++layer) {
    const auto l = static_cast<std::size_t>(layer);
    device_.multiply(Pass::forward, {shape_.batch, shape_.width, shape_.width}, inputs_[l].data(),
                     of_layer(weights_, layer).data(), linears_[l].data(), false);
    device_.relu(linears_[l].data(), inputs_[l + 1].data(), size);
  }
  device_.squared_error(inputs_.back().data(), target_.data(), difference_.data(), size);
}

double Mlp::loss() { return device_.error_sum() / static_cast<double>(batch_size()); }

void Mlp::backward(const std::function<void(std::span<float>)>& completed,
                   const std::function<void()>& between) {
  const std::size_t size = batch_size();
  device_.squared_error_backward(inputs_.back().data(), target_.data(), gradient_.data(),
                                 1.0F / static_cast<float>(size), size);
  for (int layer = shape_.layers - 1; layer >= 0; --layer) {
    const auto l = static_cast<std::size_t>(layer);
    between();
    device_.relu_backward(linears_[l].data(), gradient_.data(), gradient_.data(), size);
    between();
    // The first layer computes an input gradient, too: what stands before it is left out, not
    // absent.
    device_.multiply(Pass::input_gradient, {shape_.batch, shape_.width, shape_.width},
                     gradient_.data(), of_layer(weights_, layer).data(), other_gradient_.data(),
                     false);
    between();
    const std::span<float> of_weights = of_layer(gradients_, layer);
    device_.multiply(Pass::weight_gradient, {shape_.width, shape_.width, shape_.batch},
                     gradient_.data(), inputs_[l].data(), of_weights.data(), true);
    completed(of_weights);
    std::swap(gradient_, other_gradient_);
  }
}

void Mlp::update(float learning_rate) {
  device_.adam({weights_.data(), gradients_.data(), first_moment_.data(), second_moment_.data()},
               learning_rate, ++steps_, weights_.all().size());
  device_.clear(gradients_.data(), gradients_.all().size());
}

}  // namespace stepsim::trainer
