// Trains for some steps, and takes the time of each.
#include "validate/trainer/train.hpp"

#include <cmath>

#include "calib/cpu/stopwatch.hpp"
#include "validate/trainer/buckets.hpp"

namespace stepsim::trainer {
namespace {

void train_step(const Setting& setting, Mlp& model, Buckets& buckets, Batches& batches) {
  const Batch batch = batches.next();
  model.forward(batch.input, batch.target);
  model.backward([&](std::span<float> gradients) { buckets.add(gradients); },
                 [&] { buckets.progress(); });
  buckets.finish();
  model.update(setting.learning_rate);
}

/// Whether all ranks have the same weights, bit for bit, because all of them summed the same
/// numbers.
bool same_on_all(const cpu::Ranks& ranks, Device& device, std::span<const float> of_device) {
  std::vector<float> weights(of_device.size());
  device.download(of_device.data(), weights.data(), weights.size());
  double sum = 0, squares = 0;
  for (const float weight : weights) {
    sum += static_cast<double>(weight);
    squares += static_cast<double>(weight) * static_cast<double>(weight);
  }
  const auto same = [&](double value) { return ranks.largest(value) == ranks.smallest(value); };
  const bool sums = same(sum), all_squares = same(squares);
  return sums && all_squares;
}

}  // namespace

Outcome train(const Setting& setting, const cpu::Ranks& ranks, Device& device, Batches& batches) {
  Mlp model(device, setting.shape, 1);
  Buckets buckets(device, ranks.size(), setting.bucket_bytes);
  Outcome outcome;
  ranks.barrier();
  for (int step = 0; step < setting.warmup + setting.steps; ++step) {
    const cpu::Moment start = cpu::now();
    train_step(setting, model, buckets, batches);
    device.wait();
    const cpu::Elapsed taken = cpu::now() - start;
    if (step == 0) outcome.first_loss = model.loss();
    if (step < setting.warmup) continue;
    outcome.wall.push_back(taken.wall);
    outcome.undisturbed.push_back(taken.undisturbed());
  }
  outcome.last_loss = model.loss();
  // While one rank has no core the others wait for it, and take that time for their own: the
  // smallest of a step's times is the one without.
  for (double& seconds : outcome.wall) seconds = ranks.smallest(seconds);
  for (double& seconds : outcome.undisturbed) seconds = ranks.smallest(seconds);
  outcome.first_loss = ranks.mean(outcome.first_loss);
  outcome.last_loss = ranks.mean(outcome.last_loss);
  outcome.agree = same_on_all(ranks, device, model.weights());
  return outcome;
}

}  // namespace stepsim::trainer
