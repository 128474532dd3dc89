// Training for some steps, with the time of each.
#pragma once

#include <vector>

#include "calib/cpu/ranks.hpp"
#include "validate/trainer/batches.hpp"
#include "validate/trainer/mlp.hpp"

namespace stepsim::trainer {

struct Setting {
  Shape shape;
  double bucket_bytes = 4 << 20;
  int steps = 30, warmup = 3;
  float learning_rate = 1e-3F;
};

/// What the steps behind the warm-up came to. With several ranks, each number is that of the rank
/// that was disturbed least.
struct Outcome {
  std::vector<double> wall;  ///< seconds of each step
  /// seconds of each step, without waiting for a core that others had
  std::vector<double> undisturbed;
  double first_loss = 0, last_loss = 0;
  bool agree = true;  ///< all ranks have the same weights at the end
};

Outcome train(const Setting& setting, const cpu::Ranks& ranks, Device& device, Batches& batches);

}  // namespace stepsim::trainer
