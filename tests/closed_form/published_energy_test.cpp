// Measured energy of a training run: GPT-3 175B with fp8 on 512 H100, of MLPerf training v4.0.
//
// mlcommons/training_results_v4.0@6fe9543, smc-ac-power/results/64xSMC-H100-SXM-80GB/gpt3: power of
// 64 nodes every two seconds. The median of a node while it trains is 7,003 W (68 logs of two runs);
// a step takes 10.636 s (tracked_stats of the same runs). Nodes are cooled in immersion and measured
// at their own supplies, so that PUE is 1. How it is trained: validate/suites/mlperf_gpt3.yaml, and
// config_SMCH100_64x8x128x4x8.sh of the submission.
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

TEST_CASE("the measured energy of GPT-3 on 512 H100 is met within 15 %") {
  const Experiment experiment(R"(
model: {base: gpt3-175b, vocabulary: 50688, dropout: false}
cluster: {base: dgx-h100, nodes: 64}
training:
  sequence_length: 2048
  global_batch: 2048
  micro_batch: 2
  precision: fp8
  fp8_scaling: delayed
  gradients: bf16
  attention: cudnn
  transformer_impl: transformer_engine
parallelism:
  tensor: 4
  sequence: true
  pipeline: {stages: 8, schedule: interleaved, chunks: 12}
  data: {sharding: zero1, overlap: true, averaging: collective, overlap_param_gather: true,
         align_param_gather: true, bucket: 200 MB}
collectives: {nccl: "2.20", all_gather: ring, reduce_scatter: ring}
energy: {pue: 1}
run: {steps: 1, warmup: 1}
)");
  const Metrics metrics = experiment.metrics();
  REQUIRE(metrics.energy);
  constexpr double kMeasuredNode = 7003, kMeasuredStep = 10.636;
  const double measured = kMeasuredNode * 64 * kMeasuredStep / 3.6e6;
  CHECK(metrics.energy->kwh(metrics.step_time) == doctest::Approx(measured).epsilon(0.15));
  // The power alone, whatever the step takes.
  CHECK(8 * metrics.energy->facility().value == doctest::Approx(kMeasuredNode).epsilon(0.05));
  CHECK(8 * metrics.energy->least.value < kMeasuredNode);
  CHECK(8 * metrics.energy->most.value > kMeasuredNode);
}
