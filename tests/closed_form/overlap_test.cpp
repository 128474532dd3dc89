// Overlap efficiency: 15 ms of compute and 20 ms of communication in a step of 24 ms.
//
// What hides is compute + communication - step = 15 + 20 - 24 = 11 ms; what could hide is the
// shorter of the two, 15 ms; the efficiency is 11 / 15 = 73.3 %.
//
// Such a step: 4 ms of compute complete a gradient (2 ms forward and 2 ms backward of the upper
// layer), its all-reduce takes 20 ms, and beside it the lower layer computes 11 ms. The step ends
// with the all-reduce, at 4 + 20 = 24 ms; the GPU has waited for 24 - 15 = 9 ms of it.
#include "sim/timeline/overlap.hpp"

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double kElements = 1e9;  // fp16: 2 GB, which a ring of two sends and receives once

OpGraph two_layers() {
  OpGraph graph;
  graph.blocks = {paper_layer(0_ms, 11_ms), paper_layer(2_ms, 2_ms, kElements)};
  graph.chain = {0, 1};
  return graph;
}

const std::string kTwoGpus = R"(
model: {name: m, kind: mlp, layers: 2, width: 1}
cluster:
  name: pair
  gpu: a100-80
  gpus_per_node: 2
  intra_node: {bandwidth: 100 GB/s, latency: 0 us}
training: {global_batch: 2, precision: fp16, gradient_clipping: false}
host: {launch: 0 us}
)";

}  // namespace

TEST_CASE("11 of 15 ms hidden are an overlap efficiency of 73.3 %") {
  CHECK(overlap_efficiency(15e-3, 20e-3, 15e-3 + 20e-3 - 24e-3) == nine_digits(11.0 / 15.0));
}

TEST_CASE("a simulated step of 15 ms compute and 20 ms all-reduce takes 24 ms and hides 73.3 %") {
  const Experiment experiment(on_paper(kTwoGpus), two_layers());
  const Metrics m = experiment.metrics();
  CHECK(m.step_time.seconds() == nine_digits(24e-3));
  REQUIRE(m.communication.size() == 1);
  CHECK(m.communication[0].busy.seconds() == nine_digits(20e-3));
  CHECK(m.communication[0].exposed.seconds() == nine_digits(9e-3));
  CHECK(m.breakdown[static_cast<std::size_t>(Cause::forward)] == nine_digits(2e-3));
  CHECK(m.breakdown[static_cast<std::size_t>(Cause::backward)] == nine_digits(13e-3));
  CHECK(m.overlap_efficiency == nine_digits(11.0 / 15.0));
}

TEST_CASE("where the device itself moves the messages their share of its time is lost") {
  // 4 ms, then a message of 20 ms of which 0.75 is the device's time: 5 of the other layer's 11 ms
  // are computed beside it, 6 behind it.
  Scenario scenario = on_paper(kTwoGpus);
  scenario.cluster.gpu.communication_share = 0.75;
  const Metrics m = Experiment(std::move(scenario), two_layers()).metrics();
  CHECK(m.step_time.seconds() == nine_digits(30e-3));
}

TEST_CASE("the same step without overlap takes 35 ms and hides nothing") {
  Scenario scenario = on_paper(kTwoGpus);
  scenario.parallelism.data.overlap = false;
  const Metrics m = Experiment(std::move(scenario), two_layers()).metrics();
  CHECK(m.step_time.seconds() == nine_digits(35e-3));
  CHECK(m.overlap_efficiency == doctest::Approx(0));
}
