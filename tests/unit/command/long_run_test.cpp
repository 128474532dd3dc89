// What a checkpoint costs and how far a long run comes, from a scenario to its numbers.
#include "sim/command/answer/long_run.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/command/answer/replicas.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/report/measure/explain.hpp"
#include "sim/report/measure/measure.hpp"
#include "sim/report/run/run_report.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

/// Two nodes of four GPUs; a checkpoint of 8 GB is copied at 1 GB/s a GPU: 1 s.
std::string text(const std::string& checkpoint, const std::string& more = "") {
  return "model: {name: m, kind: mlp, layers: 2, width: 1024}\n"
         "cluster: {name: c, gpu: a100-80, nodes: 2, gpus_per_node: 4, intra_node: nvlink3, "
         "inter_node: {bandwidth: 100 Gbit/s, latency: 5 us}}\n"
         "training: {global_batch: 8192, micro_batch: 1024, precision: bf16}\n"
         "checkpoint: {size: 8 GB, d2h_bandwidth: 1 GB/s, " +
         checkpoint + "}\n" + more;
}

struct Trip {
  Scenario scenario;
  OpGraph graph;
  Timeline timeline;
  Metrics metrics;

  explicit Trip(const std::string& yaml) : scenario(scenario_of(yaml)), graph(build(scenario)) {
    const Plan plan = make_plan(scenario, graph);
    const Simulation simulation = simulate(plan);
    timeline = simulation.timeline;
    metrics = measure(scenario, graph, simulation);
    metrics.checkpoint = checkpoint_cost(scenario, graph, {});
    if (scenario.run.replicas > 1) metrics.replicas = run_replicas(scenario, graph, {});
  }
  LongRun travel() const { return simulate_long_run(metrics, scenario, graph, timeline, {}, true); }
};

}  // namespace

TEST_CASE("a checkpoint is priced where none is among the steps that are simulated") {
  // 8 GB / 8 GPUs / 1 GB/s to copy, 4 GB a node / 2 GB/s to write.
  const Trip sync(text("every: 500, storage: {bandwidth: 2 GB/s}"));
  CHECK(sync.metrics.breakdown[static_cast<std::size_t>(Cause::checkpoint)] == 0);
  CHECK(sync.metrics.checkpoint->size == 8_GB);
  CHECK(sync.metrics.checkpoint->times.blocking.seconds() == doctest::Approx(3).epsilon(1e-3));
  CHECK(sync.metrics.checkpoint->times.slowdown.seconds() == doctest::Approx(0).scale(1));
  CHECK(sync.metrics.checkpoint->times.durable.seconds() == doctest::Approx(3).epsilon(1e-3));
  const Trip async(text("every: 500, mode: async, storage: {bandwidth: 2 GB/s}"));
  CHECK(async.metrics.checkpoint->times.blocking.seconds() == doctest::Approx(1).epsilon(1e-3));
  CHECK(async.metrics.checkpoint->times.durable.seconds() == doctest::Approx(3).epsilon(1e-3));
}

TEST_CASE("writes through the fabric slow the steps beside them") {
  const Trip run(text("every: 500, mode: async, storage: {through: fabric}"));
  CHECK(run.metrics.checkpoint->times.slowdown > Seconds{0});
  const Trip apart(text("every: 500, mode: async, storage: {bandwidth: 10 GB/s}"));
  CHECK(apart.metrics.checkpoint->times.slowdown == Seconds{0});
}

TEST_CASE("what a write costs the steps beside it does not depend on how many are simulated") {
  // Loaders read 1 GB a step of a node at 1 GB/s, beside the 4 GB of the checkpoint.
  const auto cost = [](int steps) {
    return Trip(text("every: 500, mode: async",
                     fmt::format("data: {{sample_size: 244140 B, device_bytes: 8 B, workers: 1, "
                                 "prefetch: 1, storage: {{bandwidth: 1 GB/s}}}}\n"
                                 "run: {{steps: {}, warmup: 4}}\n",
                                 steps)))
        .metrics.checkpoint->times;
  };
  const CheckpointTimes few = cost(1), many = cost(20);
  CHECK(many.slowdown > Seconds{2});
  CHECK(few.slowdown.seconds() == doctest::Approx(many.slowdown.seconds()).epsilon(0.05));
  CHECK(few.durable.seconds() == doctest::Approx(many.durable.seconds()).epsilon(0.05));
}

TEST_CASE("a long run has its steps, its checkpoints, and nothing else where nothing fails") {
  const Trip run(text("every: 100, storage: {bandwidth: 2 GB/s}",
                      "reliability: {gpu_mtbf: 1e12 h, node_mtbf: 1e12 h}\n"
                      "run: {horizon: 1000 steps}\n"));
  const LongRun far = run.travel();
  const double step = run.metrics.checkpoint->step.seconds();
  CHECK(far.interruptions == 0);
  CHECK(far.steps == doctest::Approx(1000));
  CHECK(far.histories == 100);
  CHECK(far.wall.seconds() == doctest::Approx(1000 * step + 9 * 3).epsilon(1e-3));
  CHECK(far.shares.total() == doctest::Approx(1));
}

TEST_CASE("checkpoints among the simulated steps are not drawn as steps") {
  const std::string more = "run: {horizon: 1000 steps, steps: 4}\n";
  const Trip seldom(text("every: 1000, storage: {bandwidth: 2 GB/s}", more));
  const Trip often(text("every: 2, storage: {bandwidth: 2 GB/s}", more));
  CHECK(often.metrics.step_time.seconds() > 1.5);
  const LongRun far = often.travel();
  CHECK(far.sampled == 4);
  CHECK(far.p50 < Seconds{1});
  CHECK(seldom.travel().p50 < Seconds{1});
}

TEST_CASE("the share of checkpoints is that of the whole run, however many are simulated") {
  const Trip seldom(text("every: 1000, storage: {bandwidth: 2 GB/s}"));
  const Trip often(text("every: 2, storage: {bandwidth: 2 GB/s}"));
  const double step = seldom.metrics.step_time.seconds();
  CHECK(seldom.metrics.checkpoint->fraction() ==
        doctest::Approx(3 / (3 + 1000 * step)).epsilon(1e-2));
  CHECK(often.metrics.checkpoint->fraction() == doctest::Approx(3 / (3 + 2 * step)).epsilon(1e-2));
  // Written beside the steps it takes 3 s, of which the next one waits for what is left.
  const Trip async(text("every: 2, mode: async, storage: {bandwidth: 2 GB/s}"));
  CHECK(async.metrics.checkpoint->fraction() == doctest::Approx(1 - 2 * step / 3).epsilon(1e-2));
}

TEST_CASE("a run has whole periods of checkpoints by itself, behind one that goes by before") {
  const auto run_of = [](const std::string& checkpoint, const std::string& more = "") {
    return scenario_of(text(checkpoint + ", storage: {bandwidth: 2 GB/s}", more)).run;
  };
  CHECK(run_of("every: 1").steps == 2);
  CHECK(run_of("every: 3").steps == 3);
  CHECK(run_of("every: 3").warmup == 3);
  CHECK(run_of("every: 100").steps == 100);
  // Rarer ones are left out.
  CHECK(run_of("every: 101").steps == 2);
  CHECK(run_of("every: 101").warmup == 1);
  // With the loaders' queue of 2 x 2 batches two turns of it are 8 steps, rounded up; with what
  // the host does every 4 steps it is the least common multiple.
  const std::string data = "data: {sample_size: 1 KB, workers: 2, prefetch: 2}\n";
  CHECK(run_of("every: 3", data).steps == 9);
  CHECK(run_of("every: 3", data).warmup == 8);
  CHECK(run_of("every: 3", "host: {sync: {every: 4, per: step}}\n").steps == 12);
}

TEST_CASE("the line about checkpoints agrees with the steps that have them") {
  for (const char* checkpoint : {"every: 1, ", "every: 3, ", "every: 10, ",
                                 "every: 1, mode: async, ", "every: 10, mode: async, "}) {
    CAPTURE(checkpoint);
    const Trip trip(text(std::string(checkpoint) + "storage: {bandwidth: 2 GB/s}"));
    REQUIRE(trip.scenario.simulates_checkpoints());
    const Metrics& m = trip.metrics;
    CHECK(m.checkpoint->shared_step().seconds() ==
          doctest::Approx(m.step_time.seconds()).epsilon(1e-3));
    CHECK(m.breakdown[static_cast<std::size_t>(Cause::checkpoint)] / m.step_time.seconds() ==
          doctest::Approx(m.checkpoint->fraction()).epsilon(1e-3));
    // The shares agree where the measured steps have no checkpoint, too.
    const Trip bare(text(std::string(checkpoint) + "storage: {bandwidth: 2 GB/s}",
                         "run: {steps: 11, warmup: 1}\n"));
    if (bare.scenario.simulates_checkpoints()) continue;
    CHECK(bare.metrics.step_time.seconds() ==
          doctest::Approx(m.checkpoint->step.seconds()).epsilon(1e-3));
    CHECK(bare.metrics.checkpoint->fraction() ==
          doctest::Approx(m.checkpoint->fraction()).epsilon(1e-3));
  }
}

TEST_CASE("checkpoints never take less than no time") {
  CheckpointCost cost{.every = 2, .times = {1_ms, -2_ms, 1_ms}, .step = 10_ms};
  CHECK(cost.fraction() == 0);
  CHECK(cost.shared_step() == 10_ms);
}

TEST_CASE("a long run draws from the steps of all replicas, or from one where that is drawn once") {
  const std::string jitter =
      "run: {horizon: 2 h, replicas: 4, steps: 3}\n"
      "faults: {jitter: {kernels: {sigma: 5 %, per: ";
  const Trip steps(text("every: 100, storage: {bandwidth: 2 GB/s}", jitter + "step}}}\n"));
  CHECK(steps.metrics.replicas->samples.size() == 4);
  const LongRun by_step = steps.travel();
  CHECK(by_step.sampled == 12);
  CHECK(by_step.wall.seconds() == doctest::Approx(2 * 3600));
  const Trip runs(text("every: 100, storage: {bandwidth: 2 GB/s}", jitter + "run}}}\n"));
  const LongRun by_run = runs.travel();
  CHECK(by_run.sampled == 12);
  CHECK(by_run.p50 < by_run.most);
}

TEST_CASE("a long run of many short steps still has tens of histories") {
  const Trip days(text("every: 100, storage: {bandwidth: 2 GB/s}", "run: {horizon: 30 days}\n"));
  const LongRun far = days.travel();
  CHECK(far.histories >= 30);
  CHECK(far.wall.seconds() == doctest::Approx(30 * 24 * 3600));
}

TEST_CASE("the best interval is in steps without checkpoints, whatever is simulated") {
  const std::string more = "run: {horizon: 1 day}\nreliability: {gpu_mtbf: 100 days}\n";
  const Trip often(text("every: 1, storage: {bandwidth: 2 GB/s}", more));
  const Trip seldom(text("every: 1000, storage: {bandwidth: 2 GB/s}", more));
  const LongRun a = often.travel(), b = seldom.travel();
  CHECK(a.step.seconds() == doctest::Approx(b.step.seconds()).epsilon(1e-3));
  const double apart = a.step.seconds() * static_cast<double>(a.best->every);
  CHECK(apart == doctest::Approx(a.best->young.seconds()).epsilon(0.1));
}

TEST_CASE("a horizon below a step is refused") {
  const Trip trip(text("every: 100, storage: {bandwidth: 2 GB/s}", "run: {horizon: 1 us}\n"));
  CHECK_THROWS_AS(trip.travel(), UserError);
}

TEST_CASE("an explanation names the interval that would lose less of a long run") {
  Explanation e;
  e.metrics.step_time = 1_s;
  e.metrics.long_run = LongRun{.every = 1,
                               .shares = {.useful = 0.5, .checkpoints = 0.4, .lost = 0.1},
                               .expected_goodput = 0.5,
                               .best = BestInterval{.every = 700, .goodput = 0.9}};
  CHECK(verdict_of(e).sentence.find("checkpoints take 40.0 % and lost work 10.0 %") !=
        std::string::npos);
  CHECK(verdict_of(e).next.starts_with(
      "--set checkpoint.every=700: expected goodput 90.0 % instead of 50.0 %"));
  e.metrics.long_run->shares = {.useful = 0.97, .checkpoints = 0.02, .lost = 0.01};
  CHECK(verdict_of(e).next.find("goodput") == std::string::npos);
}

TEST_CASE("the report has a checkpoint's cost, the long run, and what both are worth") {
  Trip trip(text("every: 100, storage: {bandwidth: 2 GB/s}",
                 "run: {horizon: 2 h}\ncost: {price: 2 $/gpu/h}\n"));
  trip.metrics.long_run = trip.travel();
  const std::string table = to_table(trip.metrics, {}, {});
  for (const char* words : {"every 100 steps, synchronous", "training waits 3.00 s", "Long run",
                            "goodput", "lost work", "a checkpoint every", "32.00 $ in all"}) {
    CAPTURE(words);
    CAPTURE(table);
    CHECK(table.find(words) != std::string::npos);
  }
  const std::string json = to_json(trip.metrics, {}, nullptr);
  for (const char* key :
       {"\"blocking_s\": 3.0", "\"goodput\": 0.", "\"young_s\"", "\"wall_s\": 7200"})
    CHECK(json.find(key) != std::string::npos);
}
