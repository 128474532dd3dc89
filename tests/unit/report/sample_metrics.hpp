// A made-up result of a large run, for the tests of the writers.
#pragma once

#include "sim/report/measure/metrics.hpp"

namespace stepsim {

// NOLINTNEXTLINE(readability-function-size): a list of values
inline Metrics sample_metrics() {
  Metrics m;
  m.scenario = "gpt3-175b";
  m.model = "gpt3-175b";
  m.gpu = "a100-80gb";
  m.gpus = 1024;
  m.nodes = 128;
  m.split = "tensor 8 x pipeline 8 x data 16, 96 micro-batches of 1";
  m.step_time = Seconds{27.45};
  m.steps = {Seconds{27.40}, Seconds{27.50}};
  m.tokens_per_s = 114594;
  m.samples_per_s = 55.956;
  m.tokens_per_s_per_gpu = 111.9;
  m.model_tflops_per_gpu = 138;
  m.mfu = 0.442;
  m.hfu = 0.567;
  m.flop_convention = "GEMMs and attention, causal half not taken off";
  const auto set = [&](Cause cause, double seconds) {
    m.breakdown[static_cast<std::size_t>(cause)] = seconds;
  };
  set(Cause::forward, 5.10);
  set(Cause::recompute, 4.20);
  set(Cause::backward, 10.40);
  set(Cause::optimizer, 0.21);
  set(exposed(Axis::tensor), 4.10);
  set(exposed(Axis::data), 0.84);
  set(exposed(Axis::pipeline), 0.302);
  set(Cause::pipeline_bubble, 2.28);
  set(Cause::h2d, 0.0031);
  set(Cause::launch_gap, 0.0149);
  m.bubble_fraction = 2.28 / 27.45;
  m.overlap_efficiency = 0.231;
  m.communication = {
      {Axis::tensor, Bytes{312 * 0x1p30}, Seconds{5.2}, Seconds{4.1}, Seconds{1.1}},
      {Axis::data, Bytes{5.2 * 0x1p30}, Seconds{0.93}, Seconds{0.84}, Seconds{0.09}},
      {Axis::pipeline, Bytes{9 * 0x1p30}, Seconds{0.612}, Seconds{0.302}, Seconds{0.31}}};
  m.memory.capacity = Bytes{80 * 0x1p30};
  m.memory.peak_time = Seconds{4.2};
  for (int stage = 0; stage < 2; ++stage) {
    m.memory.stages.push_back({stage,
                               {{"parameters", Bytes{5.125 * 0x1p30}},
                                {"optimizer", Bytes{30.5 * 0x1p30}},
                                {"offloaded", Bytes{}},
                                {"activations", Bytes{(20.25 - stage) * 0x1p30}}},
                               {.held = {},
                                .pass = {.pass = PassKind::backward, .micro_batch = 3},
                                .block = "layer",
                                .op = "mlp down"}});
  }
  m.verdict = {
      "tensor-communication-bound: with an infinitely fast network the step would take 22.2 s "
      "(-19.1 %)",
      "sequence parallelism (--set parallelism.sequence=true) hides part of it in the backward "
      "pass"};
  m.expected_error = ExpectedError{.traits = {"a100", "dense transformer", "16-bit"},
                                   .rows = 112,
                                   .median = 0.041,
                                   .p90 = 0.09,
                                   .bias = -0.01,
                                   .known = 6,
                                   .band = ErrorBand{.least = 0.9, .most = 1.05},
                                   .suites = {"bloom", "korthikanti", "vtrain_multi"},
                                   .worst_suite = "bloom",
                                   .worst_mean = 0.162};
  m.engine = {.ranks_total = 1024,
              .ranks_simulated = 8,
              .events = 125412,
              .kernels = 3211000,
              .transfers = 12288};
  m.provenance = {"0.1.0", {{"scenario", "9f2c"}, {"gpu", "77aa"}}};
  return m;
}

inline std::vector<ExpectationOutcome> sample_expectations() {
  return {{"step_time <= 28 s", "27.45 s", true}, {"mfu >= 50 %", "44.2 %", false}};
}

}  // namespace stepsim
