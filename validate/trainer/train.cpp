// Steps of training, each with its times.
#include "validate/trainer/train.hpp"

#include <cmath>

#include "calib/cpu/stopwatch.hpp"
#include "validate/trainer/buckets.hpp"

namespace stepsim::trainer {
namespace {

double train_step(const Setting& setting, Mlp& model, Buckets& buckets, Batches& batches) {
  const Batch batch = batches.next();
  const double loss = model.forward(batch.input, batch.target);
  model.backward([&](std::span<float> gradients) { buckets.add(gradients); },
                 [&] { buckets.progress(); });
  buckets.finish();
  model.update(setting.learning_rate);
  return loss;
}

/// Bit for bit, since all of them summed the same numbers.
bool same_on_all(const cpu::Ranks& ranks, std::span<const float> weights) {
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

Outcome train(const Setting& setting, const cpu::Ranks& ranks, Batches& batches) {
  Mlp model(setting.shape, 1);
  Buckets buckets(ranks, setting.bucket_bytes);
  Outcome outcome;
  ranks.barrier();
  for (int step = 0; step < setting.warmup + setting.steps; ++step) {
    const cpu::Moment start = cpu::now();
    const double loss = train_step(setting, model, buckets, batches);
    const cpu::Elapsed taken = cpu::now() - start;
    if (step == 0) outcome.first_loss = loss;
    outcome.last_loss = loss;
    if (step < setting.warmup) continue;
    outcome.wall.push_back(taken.wall);
    outcome.undisturbed.push_back(taken.undisturbed());
  }
  // While one rank has no core the others wait for it, and take that for their own time.
  for (double& seconds : outcome.wall) seconds = ranks.smallest(seconds);
  for (double& seconds : outcome.undisturbed) seconds = ranks.smallest(seconds);
  outcome.first_loss = ranks.mean(outcome.first_loss);
  outcome.last_loss = ranks.mean(outcome.last_loss);
  outcome.agree = same_on_all(ranks, model.weights());
  return outcome;
}

}  // namespace stepsim::trainer
