// GPUs that are alike by name: the step of n of them is that of the slowest, on average.
//
// With a standard deviation s of their speeds, GEMMs take 1 + s m(n) times as long, m(n) the mean
// of the largest of n normal draws (0.564 of 2, 1.424 of 8). Kernels that move bytes do not.
#include "sim/plan/fault/slowest_gpu.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sim/core/expected_maximum.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double kSpread = 0.02;
constexpr double kMoving = 30e-3;
constexpr std::int64_t kEdge = 20'000;

/// A layer of a GEMM and of kernels that move bytes.
Block mixed_layer() {
  Op op;
  op.name = "op";
  op.forward.emplace_back(lasting(Seconds{kMoving}));
  op.forward.emplace_back(
      Launch{"gemm", Gemm{.m = kEdge, .n = kEdge, .k = kEdge, .precision = Precision::fp16}});
  op.backward.emplace_back(lasting(Seconds{kMoving}));
  op.parameters = {1};
  op.backward.emplace_back(GradientReady{1});
  Block block{.name = "layer", .dag = {}, .input = Bytes{0}};
  block.dag.add(std::move(op), {});
  return block;
}

double step_on(int gpus, const std::string& more = "") {
  Scenario scenario = on_paper(fmt::format(R"(
model: {{name: m, kind: mlp, layers: 1, width: 1}}
cluster:
  name: c
  gpu: a100-80
  gpus_per_node: {0}
  intra_node: {{bandwidth: 100 GB/s, latency: 0 us}}
training: {{global_batch: {0}, precision: fp16, gradient_clipping: false}}
host: {{launch: 0 us}}
{1}
)",
                                           gpus, more));
  scenario.cluster.gpu.spread = kSpread;
  tiles_of(scenario.cluster.gpu) = fluid_tiles();
  return Experiment(std::move(scenario), paper_graph(mixed_layer(), 1)).step_seconds();
}

}  // namespace

TEST_CASE("GEMMs run at the pace of the slowest of the job, what moves bytes does not") {
  const double alone = step_on(1);
  for (const int gpus : {2, 8}) {
    CAPTURE(gpus);
    const double alike = step_on(gpus, "faults: {gpu_spread: 0}");
    const double longer = step_on(gpus) - alike;
    CHECK(longer ==
          doctest::Approx((alike - 2 * kMoving) * kSpread * expected_maximum_of_normals(gpus))
              .epsilon(1e-6));
  }
  CHECK(alone == nine_digits(step_on(1, "faults: {gpu_spread: 0}")));
}

TEST_CASE("a scenario states another spread, and a jitter of the whole run takes its place") {
  const double alike = step_on(8, "faults: {gpu_spread: 0}");
  const double profile = step_on(8) - alike;
  CHECK(step_on(8, "faults: {gpu_spread: 4 %}") - alike ==
        doctest::Approx(2 * profile).epsilon(1e-6));
  const auto spread = [](const std::string& faults) {
    Scenario scenario = scenario_of(
        "model: mlp-20x4096\ncluster: dgx-a100-80\ntraining: {global_batch: 8}\n" + faults);
    return gpu_spread(scenario);
  };
  CHECK(spread("") > 0);
  CHECK(spread("faults: {jitter: {kernels: {sigma: 5 %, per: run}}}") == 0);
  CHECK(spread("faults: {jitter: {kernels: {sigma: 5 %, per: call}}}") == spread(""));
  CHECK(spread("faults: {jitter: {kernels: {sigma: 5 %, per: run, ranks: [0]}}}") == spread(""));
}

// What the formula leaves out is nothing when all wait for all: runs in which each rank draws its
// own speed have that step on average.
TEST_CASE("the mean of many runs that draw each GPU's speed is the expected one") {
  constexpr int kRuns = 400;
  double sum = 0, squares = 0;
  for (int seed = 0; seed < kRuns; ++seed) {
    const double step = step_on(
        8, fmt::format("run: {{seed: {}}}\nfaults: {{jitter: {{kernels: {{distribution: normal, "
                       "sigma: 2 %, per: run}}}}}}",
                       seed));
    sum += step;
    squares += step * step;
  }
  const double mean = sum / kRuns;
  const double error = std::sqrt((squares / kRuns - mean * mean) / kRuns);
  // Jitter is of all kernels, those that move bytes as well.
  const double alike = step_on(8, "faults: {gpu_spread: 0}");
  const double expected = alike * (1 + kSpread * expected_maximum_of_normals(8));
  CHECK(std::abs(mean - expected) < 4 * error);
}
