// Pairs of a forward and a backward pass whose exchanges of tokens run beside one another's
// kernels.
//
// A layer is two components of c, attention and experts, each with an exchange of x behind it on
// the way forward, and before it on the way back; x needs no SMs here. In a pair the kernels of one
// pass run between an exchange of the other and what waits for it, so that with N layers, 4 N
// components and 4 N exchanges,
//   one after the other   4 N (c + x)
//   as a pair             4 N max(c, x)
// On one stage a step of m micro-batches has m - 1 pairs, and one pass of each kind alone:
//   4 N (c + x) + (m - 1) 4 N max(c, x)
// DualPipe over two stages of N layers a part: 3 passes of each kind alone, m - 3 pairs,
//   3 x 4 N (c + x) + (m - 3) 4 N max(c, x)
#include <fmt/format.h>

#include "sim/plan/schedule.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

struct Case {
  std::string schedule = "1f1b";
  int stages = 1, chunks = 1, micro_batches = 4, parts = 1;
  int layers = 2;  ///< layers of one part
  std::optional<bool> overlap{};
};

/// Milliseconds of a component, and of an exchange between two GPUs of a node at 1 GB/s, half of
/// whose bytes move.
Block layer_of(double component, double exchange) {
  const Launch kernels = lasting(component * 1_ms);
  const StartCollective start{CollectiveOp::all_to_all, Bytes{2e6 * exchange}, Axis::expert};
  Op op;
  op.name = "op";
  op.forward = {kernels, start, Join{}, kernels, start, Join{}};
  op.backward = {start, Join{}, kernels, start, Join{}, kernels};
  Block block{.name = "layer", .dag = {}, .input = Bytes{0}, .recomputable = true};
  block.dag.add(std::move(op), {});
  return block;
}

Scenario scenario_with(const Case& c) {
  Scenario scenario = on_paper(fmt::format(R"(
model: {{name: m, kind: mlp, layers: {0}, width: 1}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {1},
  intra_node: {{bandwidth: 1 GB/s, efficiency: 1, latency: 0 us}}}}
training: {{global_batch: {2}, precision: fp16, gradient_clipping: false}}
parallelism: {{pipeline: {{stages: {3}, schedule: {4}, chunks: {5}, overlap_p2p: {6}}}}}
host: {{launch: 0 us}}
run: {{steps: 2, warmup: 2}}
)",
                                           c.parts * c.layers, 2 * c.stages, 2 * c.micro_batches,
                                           c.stages, c.schedule, c.chunks, c.stages > 1));
  scenario.parallelism.expert.degree = 2;
  scenario.parallelism.expert.overlap = c.overlap;
  return scenario;
}

struct Measured {
  double step = 0;  ///< milliseconds
  double busy = 0;  ///< seconds that kernels run, the mean of all ranks
};

Measured measured(const Case& c, double component, double exchange) {
  const Experiment experiment(scenario_with(c),
                              paper_graph(layer_of(component, exchange), c.parts * c.layers));
  const Simulation simulation = experiment.run();
  const auto& ends = simulation.timeline.step_ends;
  const Metrics metrics = measure(experiment.scenario, experiment.graph, simulation);
  double busy = 0;
  for (const Cause cause : {Cause::forward, Cause::backward})
    busy += metrics.all_ranks[static_cast<std::size_t>(cause)];
  return {(ends.back() - ends[ends.size() - 2]) * 1e3, busy * 1e3};
}

double step_of(const Case& c, double component, double exchange) {
  return measured(c, component, exchange).step;
}

}  // namespace

TEST_CASE(
    "on one stage all but the first and the last pass hide exchanges, or are hidden by them") {
  for (const int m : {1, 2, 3, 6}) {
    for (const int n : {1, 2, 5}) {
      for (const double x : {0.0, 0.5, 2.0, 3.0}) {
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(x);
        const double c = 2;
        Case one{.micro_batches = m, .layers = n};
        CHECK(step_of(one, c, x) == nine_digits(m * 4 * n * (c + x)));
        one.overlap = true;
        CHECK(step_of(one, c, x) ==
              nine_digits(4 * n * (c + x) + (m - 1) * 4 * n * std::max(c, x)));
      }
    }
  }
}

TEST_CASE("DualPipe over two stages has three passes of each kind alone and m - 3 pairs") {
  for (const int m : {4, 6, 10}) {
    for (const double x : {0.0, 0.5, 2.0, 3.0}) {
      CAPTURE(m);
      CAPTURE(x);
      const double c = 2;
      constexpr int n = 2;
      Case two{"dualpipe", 2, 2, m, 2, n};
      CHECK(step_of(two, c, x) ==
            nine_digits(3 * 4 * n * (c + x) + (m - 3) * 4 * n * std::max(c, x)));
      two.overlap = false;
      CHECK(step_of(two, c, x) == nine_digits(m * 4 * n * (c + x)));
    }
  }
}

TEST_CASE("DualPipe without exchanges takes as long as with its passes one after the other") {
  for (const int p : {2, 4, 6}) {
    for (const int m : {2 * p, 3 * p}) {
      CAPTURE(p);
      CAPTURE(m);
      Case c{"dualpipe", p, 2, m, p, 2};
      const Measured pairs = measured(c, 2, 0);
      c.overlap = false;
      const Measured apart = measured(c, 2, 0);
      CHECK(pairs.step == nine_digits(apart.step));
      CHECK(pairs.busy == nine_digits(apart.busy));
    }
  }
}

TEST_CASE("what pairs hide is waiting: kernels take as long as ever, and no step gets longer") {
  for (const double x : {0.3, 1.0, 2.5, 4.0}) {
    for (Case c : {Case{"dualpipe", 4, 2, 8, 4, 3}, Case{"interleaved", 2, 2, 4, 4, 2},
                   Case{"interleaved", 4, 3, 8, 12, 1}, Case{.micro_batches = 5}}) {
      CAPTURE(c.schedule);
      CAPTURE(x);
      c.overlap = false;
      const Measured apart = measured(c, 2, x);
      c.overlap = true;
      const Measured pairs = measured(c, 2, x);
      CHECK(pairs.busy == nine_digits(apart.busy));
      CHECK(pairs.step < apart.step);
      const double all = 4.0 * c.layers * c.micro_batches * c.parts / c.stages;
      CHECK(pairs.step >= all * std::max(2.0, x) * (1 - 1e-9));
    }
  }
}

TEST_CASE("interleaved passes that run one ahead for pairs keep the bubble of (p-1)(F+B)/v") {
  for (const int p : {2, 4}) {
    for (const int v : {2, 3}) {
      for (const int m : {p, 2 * p, 4 * p}) {
        CAPTURE(p);
        CAPTURE(v);
        CAPTURE(m);
        Case c{"interleaved", p, v, m, p * v, 1, true};
        // F and B of a chunk take 4 ms each. A pair's results leave when both are done.
        const double whole = 8.0 * (m * v + p - 1);
        CHECK(step_of(c, 2, 0) >= whole * (1 - 1e-9));
        CHECK(step_of(c, 2, 0) <= (whole + 8.0 * p) * (1 + 1e-9));
      }
    }
  }
}

TEST_CASE("activations of one more pass are held where passes pair") {
  for (const char* name : {"1f1b", "interleaved"}) {
    const Schedule& schedule = schedule_of(scenario_with({.schedule = name}));
    const bool interleaved = std::string(name) == "interleaved";
    const PipelineShape apart{interleaved ? 4 : 1, 8, interleaved ? 2 : 1};
    PipelineShape pairs = apart;
    pairs.pairs = true;
    for (int stage = 0; stage < apart.stages; ++stage)
      CHECK(peak_in_flight(schedule.order(pairs, stage)) ==
            peak_in_flight(schedule.order(apart, stage)) + 1);
  }
}
