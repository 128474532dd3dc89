// Checkpoints with pencil and paper.
//
// A checkpoint of Z bytes leaves k nodes of g GPUs. Copies to the host go at H a GPU, writes at R a
// node and A for all nodes together. The GPU computes c = 4 ms a step.
//   sharded      every rank copies Z / (k g) and writes it: Z / (k g H) + (Z / k) / min(R, A / k)
//   not sharded  one rank copies and writes all of it: Z / H + Z / min(R, A), the others wait
//   async        training waits for the copy alone. Where a checkpoint follows every step, the next
//                copy waits for the write: a step takes Z / (g H) + max(c, Z / R)
//   contention   a loader that reads S a step at R is slowed while Z is written on the same link;
//                the link is never idle, so the steps take Z / R longer, all together
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/plan/memory/checkpoint_bytes.hpp"
#include "sim/plan/what_if.hpp"
#include "sim/timeline/partition.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double c = 4e-3;
constexpr double Z = 1e9;
constexpr double H = 10e9;

struct Setting {
  std::string checkpoint;  ///< without size and d2h_bandwidth
  int nodes = 1, gpus = 1;
  int steps = 4;
  std::string more = "";
};

Experiment with(const Setting& s) {
  Scenario scenario = on_paper(fmt::format(
      "model: {{name: m, kind: mlp, layers: 1, width: 1}}\n"
      "cluster: {{name: c, gpu: a100-80, nodes: {}, gpus_per_node: {}, intra_node: {{bandwidth: 1 "
      "GB/s, latency: 0 us}}, inter_node: {{bandwidth: 8 Gbit/s, latency: 0 us}}}}\n"
      "training: {{global_batch: {}, precision: fp16, gradient_clipping: false}}\n"
      "host: {{launch: 0 us}}\nrun: {{warmup: 1, steps: {}}}\n"
      "checkpoint: {{size: 1 GB, d2h_bandwidth: 10 GB/s, {}}}\n{}",
      s.nodes, s.gpus, s.nodes * s.gpus, s.steps, s.checkpoint, s.more));
  return {std::move(scenario), paper_graph(paper_layer(1_ms, 3_ms, 1), 1)};
}

/// Seconds of every step, the one of the warm-up included.
std::vector<double> steps(const Setting& s) {
  const Timeline timeline = with(s).run().timeline;
  std::vector<double> result;
  for (std::size_t i = 0; i < timeline.step_ends.size(); ++i)
    result.push_back(timeline.step_ends[i] - timeline.step_start(i));
  return result;
}

/// Bytes of all ranks together.
double written(const Plan& plan) {
  double sum = 0;
  for (const int program : plan.program_of) {
    for (const Task& task : plan.programs[static_cast<std::size_t>(program)].tasks) {
      const auto lane = static_cast<std::uint32_t>(Lane::checkpoint);
      if (task.kind == TaskKind::read && task.work % kLanes == lane) sum += task.amount;
    }
  }
  return sum;
}

/// To a microsecond: the ranks agree on 8 bytes when all is written.
doctest::Approx about(double seconds) { return doctest::Approx(seconds).epsilon(1e-6).scale(1); }

}  // namespace

TEST_CASE("a sharded checkpoint is copied and written by all ranks at once") {
  for (const int k : {1, 2, 3}) {
    for (const int g : {1, 4}) {
      CAPTURE(k);
      CAPTURE(g);
      const double time = Z / (k * g * H) + Z / k / std::min(1e9, 2e9 / k);
      const auto taken = steps({.checkpoint = "every: 2, storage: {bandwidth: 1 GB/s, "
                                              "shared_bandwidth: 2 GB/s}",
                                .nodes = k,
                                .gpus = g});
      for (std::size_t i = 0; i < taken.size(); ++i)
        CHECK(taken[i] == about(i % 2 == 1 ? c + time : c));
    }
  }
}

TEST_CASE("without shards one rank writes it all and the others wait") {
  for (const int k : {1, 2}) {
    for (const int g : {1, 4}) {
      const auto taken = steps({.checkpoint = "every: 2, sharded: false, storage: {bandwidth: 500 "
                                              "MB/s, shared_bandwidth: 1 GB/s}",
                                .nodes = k,
                                .gpus = g});
      CHECK(taken[0] == about(c));
      CHECK(taken[1] == about(c + Z / H + Z / 0.5e9));
    }
  }
}

TEST_CASE("no rank writes faster than its stream") {
  const auto taken = steps({.checkpoint = "every: 1, storage: {bandwidth: 1 GB/s, "
                                          "stream_bandwidth: 100 MB/s}",
                            .gpus = 4});
  CHECK(taken[0] == about(c + Z / 4 / H + Z / 4 / 0.1e9));
}

TEST_CASE("an asynchronous checkpoint holds training up until it is copied") {
  const auto taken =
      steps({.checkpoint = "every: 100, mode: async, storage: {bandwidth: 1 GB/s}", .gpus = 2});
  CHECK(taken[0] == about(c));
  const auto due = steps(
      {.checkpoint = "every: 3, mode: async, storage: {bandwidth: 1 GB/s}", .gpus = 2, .steps = 3});
  CHECK(due[1] == about(c));
  CHECK(due[2] == about(c + Z / 2 / H));
  CHECK(due[3] == about(c));
}

TEST_CASE("the next copy waits for the last write") {
  const auto taken =
      steps({.checkpoint = "every: 1, mode: async, storage: {bandwidth: 1 GB/s}", .gpus = 2});
  CHECK(taken[0] == about(c + Z / 2 / H));
  // The write of 1 s has begun when a step begins; the copy after the step waits for it.
  for (std::size_t i = 1; i < taken.size(); ++i)
    CHECK(taken[i] == about(Z / 2 / H + std::max(c, Z / 1e9)));
  const auto fast =
      steps({.checkpoint = "every: 1, mode: async, storage: {bandwidth: 1000 GB/s}", .gpus = 2});
  for (const double step : fast) CHECK(step == about(Z / 2 / H + c));
}

TEST_CASE("a measured step has its share of the checkpoints, or none of them") {
  const double time = Z / 2 / H + Z / 1e9;
  const auto mean = [](int every, int measured) {
    return with({.checkpoint = fmt::format("every: {}, storage: {{bandwidth: 1 GB/s}}", every),
                 .gpus = 2,
                 .steps = measured})
        .step_seconds();
  };
  for (const int periods : {1, 2, 3}) CHECK(mean(3, 3 * periods) == about(c + time / 3));
  for (const int measured : {1, 2, 4, 5, 7}) CHECK(mean(3, measured) == about(c));
}

TEST_CASE("a checkpoint on the storage of the data slows its loaders") {
  // 10 MB a step at 1 GB/s: 10 ms, more than the GPU needs.
  const std::string data =
      "data: {sample_size: 10 MB, device_bytes: 1 B, workers: 1, prefetch: 1, storage: {bandwidth: "
      "1 GB/s}}\n";
  const auto free = steps({.checkpoint = "every: 1000, mode: async", .steps = 600, .more = data});
  const auto taken = steps({.checkpoint = "every: 300, mode: async", .steps = 600, .more = data});
  CHECK(free[10] == about(10e-3));
  CHECK(taken[310] == about(20e-3));
  double lost = 0;
  // steps that the first of two checkpoints delays
  for (std::size_t i = 0; i < 599; ++i) lost += taken[i] - free[i];
  // The copy of 100 ms lets the loader get one batch ahead.
  CHECK(std::abs(lost - (Z / 1e9 + Z / H)) < 11e-3);
  // On a storage of its own it slows nobody.
  const auto apart = steps({.checkpoint = "every: 300, mode: async, storage: {bandwidth: 1 GB/s}",
                            .steps = 600,
                            .more = data});
  CHECK(apart[310] == about(10e-3));
}

TEST_CASE("checkpoints among the steps that are simulated are measured in whole intervals") {
  // The first checkpoint, whose copy waits for no write, belongs to the warm-up.
  const auto run = [](int every) {
    Scenario scenario = on_paper(fmt::format(
        "model: {{name: m, kind: mlp, layers: 1, width: 1}}\n"
        "cluster: {{name: c, gpu: a100-80}}\n"
        "training: {{global_batch: 1, precision: fp16, gradient_clipping: false}}\n"
        "host: {{launch: 0 us}}\ncheckpoint: {{every: {}, mode: async, size: 1 GB, d2h_bandwidth: "
        "10 GB/s, storage: {{bandwidth: 1 GB/s}}}}\n",
        every));
    return Experiment(std::move(scenario), paper_graph(paper_layer(1_ms, 3_ms, 1), 1));
  };
  for (const int every : {1, 2, 3}) {
    CAPTURE(every);
    CHECK(run(every).step_seconds() == about((Z / H + std::max(every * c, Z / 1e9)) / every));
  }
  CHECK(run(3).scenario.run.warmup == 3);
  CHECK(run(3).scenario.run.steps == 3);
  CHECK(run(101).scenario.run.steps == 2);
  CHECK(run(101).step_seconds() == about(c));
}

TEST_CASE("what waits for a checkpoint is called so, on every rank") {
  for (const char* checkpoint : {"every: 2, storage: {bandwidth: 1 GB/s}",
                                 "every: 2, sharded: false, storage: {bandwidth: 1 GB/s}",
                                 "every: 2, mode: async, storage: {bandwidth: 1 GB/s}"}) {
    CAPTURE(checkpoint);
    const Experiment experiment = with({.checkpoint = checkpoint, .nodes = 2, .gpus = 2});
    const Timeline timeline = experiment.run({.fold = false}).timeline;
    const double from = timeline.step_start(1), to = timeline.step_ends[1];
    for (const RankTimeline& rank : timeline.ranks) {
      const CauseSeconds causes = partition(timeline, rank, from, to);
      CHECK(causes[static_cast<std::size_t>(Cause::checkpoint)] == about(to - from - c));
    }
  }
}

TEST_CASE("a single GPU's checkpoint has its name, too") {
  const Experiment experiment = with({.checkpoint = "every: 1, storage: {bandwidth: 1 GB/s}"});
  const Metrics metrics = experiment.metrics();
  CHECK(metrics.breakdown[static_cast<std::size_t>(Cause::checkpoint)] == about(Z / H + Z / 1e9));
}

TEST_CASE("a checkpoint has 14 bytes a parameter, however the model is split") {
  for (const char* split :
       {"{}", "{tensor: 8}", "{data: {sharding: zero3}}", "{tensor: 2, pipeline: {stages: 4}}"}) {
    CAPTURE(split);
    const Scenario s = scenario_of(
        fmt::format("model: llama2-7b\ncluster: {{base: dgx-h100, nodes: 2}}\n"
                    "training: {{sequence_length: 4096, global_batch: 16, precision: bf16}}\n"
                    "checkpoint: {{every: 100, storage: {{bandwidth: 1 GB/s}}}}\nparallelism: {}\n",
                    split));
    const OpGraph graph = build(s);
    // 6,738,415,616 parameters (meta-llama/Llama-2-7b-hf). On 8 tensor ranks the
    // vocabulary is padded to 32,768, and all of them have the norms: 0.12 % more.
    const double bytes = checkpoint_bytes(s, graph).bytes();
    CHECK(bytes == doctest::Approx(14 * 6'738'415'616.0).epsilon(1.3e-3));
    const Plan plan = make_plan(s, graph, {.checkpoint_after = 1});
    CHECK(written(plan) == doctest::Approx(bytes).epsilon(1e-9));
  }
}

TEST_CASE("what several stages hold is saved once") {
  // Word embeddings that first and last stage share; all of the model in the two ways of DualPipe.
  const auto scenario = [](const char* pipeline, bool sharded) {
    return scenario_of(
        fmt::format("model: {{name: m, layers: 8, hidden: 512, heads: 8, vocabulary: 8192}}\n"
                    "cluster: {{base: dgx-h100}}\n"
                    "training: {{sequence_length: 128, global_batch: 32, precision: bf16}}\n"
                    "checkpoint: {{every: 100, sharded: {}, storage: {{bandwidth: 1 GB/s}}}}\n"
                    "parallelism: {{pipeline: {}}}\n",
                    sharded, pipeline));
  };
  const Scenario whole = scenario("{stages: 1}", true);
  const double expected = checkpoint_bytes(whole, build(whole)).bytes();
  for (const char* pipeline : {"{stages: 4}", "{stages: 4, schedule: zb-v, chunks: 2}",
                               "{stages: 4, schedule: dualpipe, chunks: 2}"}) {
    for (const bool sharded : {true, false}) {
      CAPTURE(pipeline);
      CAPTURE(sharded);
      const Scenario s = scenario(pipeline, sharded);
      const OpGraph graph = build(s);
      CHECK(checkpoint_bytes(s, graph).bytes() == doctest::Approx(expected).epsilon(1e-9));
      CHECK(written(make_plan(s, graph, {.checkpoint_after = 1})) ==
            doctest::Approx(expected).epsilon(1e-9));
    }
  }
}

TEST_CASE("a checkpoint of one rank gathers what is sharded") {
  // Adam's 12 bytes of each of E fp16 parameters are shared out over 4 GPUs: each of them gets 3/4
  // of that, and the writer has 14 E to copy and write.
  const double elements = 1e6;
  const auto step = [&](const char* sharded) {
    Scenario scenario = on_paper(fmt::format(
        "model: {{name: m, kind: mlp, layers: 1, width: 1}}\n"
        "cluster: {{name: c, gpu: a100-80, nodes: 1, gpus_per_node: 4, intra_node: {{bandwidth: 1 "
        "GB/s, latency: 0 us}}}}\n"
        "training: {{global_batch: 4, precision: fp16, gradient_clipping: false}}\n"
        "host: {{launch: 0 us}}\nrun: {{warmup: 1, steps: 1}}\n"
        "collectives: {{all_gather: ring}}\nparallelism: {{data: {{sharding: zero1}}}}\n"
        "checkpoint: {{every: {}, d2h_bandwidth: 10 GB/s, sharded: false, storage: {{bandwidth: 1 "
        "GB/s}}}}\n",
        sharded));
    return Experiment(std::move(scenario), paper_graph(paper_layer(1_ms, 3_ms, elements), 1));
  };
  const double none = step("2").step_seconds();
  const double cost = step("1").step_seconds() - none;
  CHECK(cost > 14 * elements / H + 14 * elements / 1e9 + 0.75 * 12 * elements / 1e9);
  CHECK(cost < 14 * elements / H + 14 * elements / 1e9 + 12 * elements / 0.5e9);
  // Free, it takes no time for gathering either.
  const Timeline free = simulate(with_free_checkpoints(step("1").plan)).timeline;
  CHECK(mean_step(free).seconds() == about(none));
}
