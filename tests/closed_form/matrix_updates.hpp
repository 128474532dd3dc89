// The small GPT of tests of optimizers that take matrices.
#pragma once

#include <string>

#include <fmt/format.h>

#include "sim/plan/memory/memory.hpp"
#include "tests/closed_form/harness.hpp"

namespace stepsim {

inline constexpr double kHidden = 256, kLayers = 4, kSquare = kHidden * kHidden;
inline constexpr double kMatrices = kLayers * 12 * kSquare;

/// Settings stand behind a comma: ", optimizer: muon".
inline Scenario gpt(const std::string& training, const std::string& parallelism, int gpus) {
  return scenario_of(fmt::format(R"(
model: {{name: m, layers: 4, hidden: 256, heads: 4, vocabulary: 512}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {0}, intra_node: nvlink3}}
training: {{sequence_length: 64, global_batch: {0}, gradients: fp32, gradient_clipping: false{1}}}
parallelism: {{{2}}}
run: {{steps: 1, warmup: 0}}
)",
                                 gpus, training, parallelism));
}

inline double optimizer_state(const Scenario& scenario) {
  return state_bytes(scenario, stage_parameters(scenario, build(scenario), 0)).optimizer;
}

inline double parameters(const Scenario& scenario) {
  return stage_parameters(scenario, build(scenario), 0).dense;
}

}  // namespace stepsim
