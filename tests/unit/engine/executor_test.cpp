// The executor: what a timeline promises, and what is said when a simulation cannot end.
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/plan/what_if.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

// The first stage asks for a gradient before it has sent the activation that it comes from.
const Registered<Schedule> stubborn{{
    .name = "test: stubborn",
    .description = "the first stage runs backward first",
    .needs = {},
    .order =
        [](const PipelineShape&, int stage) {
          std::vector<Action> order{{PassKind::forward, 0}, {PassKind::backward, 0}};
          if (stage == 0) std::swap(order[0], order[1]);
          return order;
        },
}};

// Everyone waits for the next: a gradient from above, which waits for an activation from below.
const Registered<Schedule> reversed{{
    .name = "test: reversed",
    .description = "the last stage takes micro-batches from the end",
    .needs = {},
    .order =
        [](const PipelineShape& shape, int stage) {
          std::vector<Action> order = Registry<Schedule>::find("gpipe")->order(shape, stage);
          if (stage + 1 < shape.stages) return order;
          for (Action& action : order)
            action.micro_batch = shape.micro_batches - 1 - action.micro_batch;
          return order;
        },
}};

Scenario pipeline(const std::string& schedule, int stages, int micro_batches = 1) {
  Scenario scenario = on_paper(fmt::format(R"(
model: {{name: m, kind: mlp, layers: {0}, width: 1}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {0}, intra_node: {{bandwidth: 1 GB/s, latency: 0 us}}}}
training: {{global_batch: {1}, precision: fp16, gradient_clipping: false}}
parallelism: {{pipeline: {{stages: {0}}}}}
host: {{launch: 0 us}}
)",
                                           stages, micro_batches));
  scenario.parallelism.pipeline.schedule = schedule;
  return scenario;
}

Experiment run_on(const std::string& schedule, int stages, int micro_batches = 1) {
  return {pipeline(schedule, stages, micro_batches), paper_graph(paper_layer(2_ms, 3_ms), stages)};
}

/// Everything at once: tensor, pipeline and data parallelism over nodes, with a loader.
const std::string kMixed = R"(
model: {name: m, layers: 8, hidden: 512, heads: 8, vocabulary: 8192}
cluster:
  name: c
  gpu: a100-80
  nodes: 2
  gpus_per_node: 8
  intra_node: nvlink3
  inter_node: {nics_per_node: 4, bandwidth: 200 Gbit/s, latency: 5 us}
training: {sequence_length: 256, global_batch: 32, micro_batch: 1, precision: bf16}
parallelism: {tensor: 2, sequence: true, pipeline: {stages: 4}, data: {sharding: zero1}}
data: {storage: {bandwidth: 1 GB/s, latency: 10 us}, sample_size: 100 KB, decode: 100 us}
run: {steps: 2, warmup: 1}
)";

}  // namespace

TEST_CASE("stages that wait for each other are a deadlock that names ranks and operations") {
  const Experiment experiment = run_on("test: stubborn", 2);
  CHECK_THROWS_WITH_AS(
      experiment.run(),
      doctest::Contains("rank 0 (stage 0) is in 'receive backward' of micro-batch 0 and waits for "
                        "rank 1\n  rank 1 (stage 1) is in 'receive forward' of micro-batch 0 and "
                        "waits for rank 0"),
      SimulationError);
}

TEST_CASE("a deadlock is found in unfolded runs too") {
  const Experiment experiment = run_on("test: stubborn", 2);
  CHECK_THROWS_AS(experiment.run({.fold = false}), SimulationError);
}

TEST_CASE("stages that exchange different micro-batches are told apart by both ends") {
  const Experiment experiment = run_on("test: reversed", 2, 3);
  CHECK_THROWS_WITH_AS(experiment.run(), doctest::Contains("of micro-batch 0 on rank 0"),
                       SimulationError);
  CHECK_THROWS_WITH_AS(experiment.run(), doctest::Contains("of micro-batch 2 on rank 1"),
                       SimulationError);
  CHECK_THROWS_WITH_AS(experiment.run(), doctest::Contains("orders do not match"), SimulationError);
}

TEST_CASE("after a simulation that failed the next one starts at zero and runs") {
  CHECK_THROWS_AS(run_on("test: stubborn", 2).run(), SimulationError);
  CHECK_THROWS_AS(run_on("test: reversed", 2, 2).run(), SimulationError);
  const Simulation simulation = run_on("gpipe", 2, 4).run();
  CHECK(simulation.timeline.step_ends.at(0) == nine_digits(5 * 5e-3));
}

TEST_CASE("the same plan gives the same timeline, run after run") {
  const Experiment experiment(kMixed);
  const Timeline first = experiment.run().timeline;
  const Timeline second = experiment.run().timeline;
  REQUIRE(first.ranks.size() == second.ranks.size());
  for (std::size_t i = 0; i < first.step_ends.size(); ++i)
    CHECK(first.step_ends[i] == nine_digits(second.step_ends[i]));
  for (std::size_t r = 0; r < first.ranks.size(); ++r)
    CHECK(first.ranks[r].spans.size() == second.ranks[r].spans.size());
}

TEST_CASE("spans arrive, start and end in that order, one at a time on each row") {
  for (const bool kernels : {false, true}) {
    const Timeline timeline = Experiment(kMixed).run({.kernels = kernels}).timeline;
    for (const RankTimeline& rank : timeline.ranks) {
      std::vector<double> free(rank.rows.size(), 0);
      double last = 0;
      for (std::size_t i = 0; i < rank.spans.size(); ++i) {
        const Span& span = rank.spans[i];
        REQUIRE(span.arrival <= span.start * (1 + 1e-12));
        REQUIRE(span.start <= span.end * (1 + 1e-12));
        REQUIRE(span.blocker < static_cast<std::int32_t>(i));
        REQUIRE(span.start >= free[span.row] * (1 - 1e-12));
        if (!kernels) REQUIRE(span.end >= last);
        free[span.row] = last = span.end;
      }
    }
  }
}

TEST_CASE("both ends of a transfer carry the same message number, and nobody else does") {
  const Timeline timeline = Experiment(kMixed).run({.fold = false}).timeline;
  std::map<std::uint32_t, std::pair<int, int>> ends;  // senders, receivers
  for (const RankTimeline& rank : timeline.ranks) {
    for (const Span& span : rank.spans) {
      if (span.message == 0) continue;
      ++(span.sends ? ends[span.message].first : ends[span.message].second);
    }
  }
  CHECK(!ends.empty());
  int complete = 0;
  for (const auto& [message, count] : ends) {
    CHECK(count.first <= 1);
    CHECK(count.second <= 1);
    complete += count.first == 1 && count.second == 1;
  }
  CHECK(complete > 0);
}

TEST_CASE("the stages of a folded run stand for all ranks") {
  const Experiment experiment(kMixed);
  const Simulation simulation = experiment.run();
  int ranks = 0;
  for (const RankTimeline& rank : simulation.timeline.ranks) ranks += rank.multiplicity;
  CHECK(ranks == 16);
  CHECK(simulation.stats.ranks_total == 16);
  CHECK(simulation.stats.ranks_simulated ==
        static_cast<std::int64_t>(simulation.timeline.ranks.size()));
  CHECK(simulation.stats.ranks_simulated < 16);
  CHECK(experiment.run({.fold = false}).stats.ranks_simulated == 16);
}

TEST_CASE("where spans of all ranks are too many, some are kept, and all ranks simulated") {
  const Experiment experiment = run_on("gpipe", 8, 2);
  const Simulation whole = experiment.run();
  REQUIRE(whole.timeline.ranks.size() == 8);
  CHECK(whole.stats.ranks_unrecorded == 0);
  const std::size_t of_one = experiment.plan.program(0).tasks.size();
  const Simulation some = experiment.run({.shown = {6}, .most_spans = 3 * of_one});
  CHECK(some.timeline.step_ends == whole.timeline.step_ends);
  CHECK(some.stats.ranks_simulated == 8);
  CHECK(some.timeline.ranks.size() < 6);
  CHECK(some.stats.ranks_recorded == static_cast<std::int64_t>(some.timeline.ranks.size()));
  CHECK(some.stats.ranks_recorded + some.stats.ranks_unrecorded == 8);
  std::set<int> kept;
  double weight = 0;
  int silent = 0;
  for (const RankTimeline& rank : some.timeline.ranks) {
    kept.insert(rank.rank);
    const auto& same = whole.timeline.ranks[static_cast<std::size_t>(rank.rank)];
    CHECK(same.rank == rank.rank);
    CHECK(same.spans.size() == rank.spans.size());
    weight += rank.weight;
    silent += rank.weight == 0 ? 1 : 0;
  }
  CHECK(weight <= 8);
  CHECK(silent <= 1);
  CHECK(kept.contains(0));
  CHECK(kept.contains(6));
}

TEST_CASE("all steps are there, and the warm-up is marked") {
  const Timeline timeline = Experiment(kMixed).run().timeline;
  CHECK(timeline.step_ends.size() == 3);
  CHECK(timeline.warmup == 1);
  CHECK(timeline.measured_steps() == 2);
  CHECK(timeline.step_start(0) == 0);
  CHECK(timeline.step_start(2) == timeline.step_ends[1]);
  for (std::size_t step = 0; step < 3; ++step)
    CHECK(timeline.step_ends[step] > timeline.step_start(step));
}

TEST_CASE("a step without network, input or launches is never longer, and without all is compute") {
  const Experiment experiment(kMixed);
  const auto step = [&](const Plan& plan) {
    return measure(experiment.scenario, experiment.graph, simulate(plan)).step_time.seconds();
  };
  const double base = step(experiment.plan);
  CHECK(step(with_free_network(experiment.plan)) < base);
  CHECK(step(with_free_input(experiment.plan)) <= base * (1 + 1e-9));
  CHECK(step(with_free_launches(experiment.plan)) < base);
  const Metrics bare =
      measure(experiment.scenario, experiment.graph,
              simulate(with_free_network(with_free_input(with_free_launches(experiment.plan)))));
  for (const Cause cause : {exposed(Axis::tensor), exposed(Axis::data), Cause::batch_wait,
                            Cause::h2d, Cause::launch_gap, Cause::contention}) {
    CAPTURE(name_of(cause));
    CHECK(std::abs(bare.breakdown[static_cast<std::size_t>(cause)]) <= 1e-9);
  }
}

TEST_CASE("a graph launch frees the host but for one launch a pass") {
  Scenario scenario = pipeline("1f1b", 1);
  scenario.host = {.mode = HostMode::graph, .launch = 1_ms};
  Block layer = paper_layer(Seconds{0}, Seconds{0});
  for (int i = 0; i < 10; ++i) layer.dag[0].forward.emplace_back(lasting(2_ms));
  const Experiment experiment(std::move(scenario), paper_graph(std::move(layer), 1));
  const Timeline timeline = experiment.run().timeline;
  CHECK(timeline.ranks.at(0).spans.at(0).end == nine_digits(1e-3 + 10 * 2e-3));
}
