// Activations in flight: how many forward passes a stage holds until their backward passes.
//
// GPipe runs all m forward passes first: m. 1F1B stage r warms up with p-1-r passes and then runs
// one forward before each backward: min(p - r, m) (Narayanan et al. 2021, section 2.2.1).
// Interleaved, the warm-up of stage r is 2(p-r-1) + (v-1) p chunk passes, and one more is in flight
// in the steady state: min(2(p-r-1) + (v-1) p + 1, m v), of which each holds 1/v of the stage.
#include <algorithm>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/schedule.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

int peak(const char* schedule, PipelineShape shape, int stage) {
  return peak_in_flight(Registry<Schedule>::find(schedule)->order(shape, stage));
}

/// Most that the simulated rank held above its resident memory.
double most_activations(const RankTimeline& rank) {
  double most = 0;
  for (const MemoryPoint& point : rank.memory) most = std::max(most, point.bytes);
  return most - rank.memory.front().bytes;
}

}  // namespace

TEST_CASE("GPipe holds m micro-batches, 1F1B min(p - r, m)") {
  for (int p = 1; p <= 9; ++p) {
    for (int m = 1; m <= 20; ++m) {
      for (int r = 0; r < p; ++r) {
        CAPTURE(p);
        CAPTURE(m);
        CAPTURE(r);
        CHECK(peak("gpipe", {p, m, 1}, r) == m);
        CHECK(peak("1f1b", {p, m, 1}, r) == std::min(p - r, m));
      }
    }
  }
}

TEST_CASE("interleaved holds min(2(p-r-1) + (v-1)p + 1, m v) chunk passes") {
  for (int p = 2; p <= 8; ++p) {
    for (int v = 2; v <= 5; ++v) {
      for (int m = p; m <= 6 * p; m += p) {
        for (int r = 0; r < p; ++r) {
          CAPTURE(p);
          CAPTURE(v);
          CAPTURE(m);
          CAPTURE(r);
          CHECK(peak("interleaved", {p, m, v}, r) ==
                std::min(2 * (p - r - 1) + (v - 1) * p + 1, m * v));
        }
      }
    }
  }
}

TEST_CASE("the memory curve of a simulated 1F1B stage peaks at min(p - r, m) micro-batches") {
  constexpr int p = 4;
  constexpr double kSaved = 1e9;
  for (const int m : {2, 8}) {
    Block layer = paper_layer(3_ms, 7_ms);
    layer.dag[0].saved = Bytes{kSaved};
    const Experiment experiment(on_paper(fmt::format(R"(
model: {{name: m, kind: mlp, layers: {0}, width: 1}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {0}, intra_node: {{bandwidth: 1 GB/s, latency: 0 us}}}}
training: {{global_batch: {1}, precision: fp16, gradient_clipping: false}}
parallelism: {{pipeline: {{stages: {0}}}}}
)",
                                                     p, m)),
                                paper_graph(std::move(layer), p));
    const Simulation simulation = experiment.run();
    REQUIRE(simulation.timeline.ranks.size() == p);
    for (const RankTimeline& rank : simulation.timeline.ranks) {
      CAPTURE(rank.stage);
      CHECK(most_activations(rank) == nine_digits(std::min(p - rank.stage, m) * kSaved));
      CHECK(rank.memory.back().bytes == doctest::Approx(rank.memory.front().bytes));
    }
  }
}
