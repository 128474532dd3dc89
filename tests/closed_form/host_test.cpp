// What a host does besides launching, with pencil and paper.
//
// One GPU, M micro-batches of F forward and B backward, a host that launches in no time unless it
// is said. A step takes M (F + B) =: W.
//   CPU work of t after forward      its result is waited for: W + M t; otherwise the host is only
//                                    later with the backward pass: F is hidden, max(t, F) + B
//   recompilation of T, backward     in every N-th step max(T, F) + B, forward: T + F + B
//   garbage collection of P          on n ranks that meet: W + P / N where all stop in the same
//                                    step, W + P where one of N stops in each
//   reading a value every N steps    launch l and read r are exposed once: W + (l + r) / N; every
//                                    N passes, W + 2 M r / N
//   work of t on a forward pass's    the host waits before it, and launches behind it: W + M t
//   input, or batch
//   a queue of q kernels of d each   hides work of w up to q d: W + w - q d
//   launches of l that block         each kernel is waited for: W + k l for k kernels
//   anomaly detection                each forward kernel comes after a stack trace of 80 us, each
//                                    backward one is looked at for as long as it takes, which is
//                                    read back in 6 us: M (80 us + F + 2 B + 6 us)
//   calls of h on a core of speed v  h / v pass besides launches: with GPUs in no time the step is
//                                    that and all launches; a collective takes c besides, for any v
//   T threads on C < T cores         CPU work and launches take T / C times as long
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/ops/host_cost.hpp"
#include "sim/plan/what_if.hpp"
#include "sim/scenario/describe/frameworks.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double F = 10e-3, B = 30e-3;

struct Setting {
  std::string host;
  int micro_batches = 1;
  int warmup = 0, steps = 1;
  int gpus = 1;
  double forward = F, backward = B;
  std::string more = "";
};

Experiment with(const Setting& s) {
  Scenario scenario = on_paper(fmt::format(
      "model: {{name: m, kind: mlp, layers: 1, width: 1}}\n"
      "cluster: {{name: c, gpu: a100-80, gpus_per_node: {}, intra_node: {{bandwidth: 1 GB/s, "
      "latency: 0 us}}}}\n"
      "training: {{global_batch: {}, precision: fp16, gradient_clipping: false}}\n"
      "host: {{{}}}\nrun: {{warmup: {}, steps: {}}}\n{}",
      s.gpus, s.gpus * s.micro_batches, s.host, s.warmup, s.steps, s.more));
  // A gradient of one element, so that ranks meet.
  return {std::move(scenario),
          paper_graph(paper_layer(Seconds{s.forward}, Seconds{s.backward}, 1), 1)};
}

double step(const Setting& s) { return with(s).step_seconds(); }

std::vector<double> steps(const Setting& s) {
  std::vector<double> result;
  for (const Seconds& time : with(s).metrics().steps) result.push_back(time.seconds());
  return result;
}

double waiting(const Setting& s, Cause cause) {
  return with(s).metrics().breakdown[static_cast<std::size_t>(cause)];
}

std::string work(const std::string& keys) {
  return "launch: 0 us, cpu_work: [{name: loss, " + keys + "}]";
}

/// Spans of that name on the host row of the first recorded rank.
int times(const Experiment& experiment, const std::string& name) {
  const Simulation run = experiment.run();
  const RankTimeline& rank = run.timeline.ranks.front();
  return static_cast<int>(
      std::count_if(rank.spans.begin(), rank.spans.end(), [&](const Span& span) {
        return rank.rows[span.row].kind == RowKind::host && run.timeline.names[span.name] == name;
      }));
}

}  // namespace

TEST_CASE("CPU work that the backward pass waits for adds exactly its time") {
  for (const int M : {1, 3}) {
    CAPTURE(M);
    const Setting loss{.host = work("time: 7 ms"), .micro_batches = M};
    CHECK(step(loss) == nine_digits(M * (F + 7e-3 + B)));
    CHECK(waiting(loss, Cause::cpu_work) == nine_digits(M * 7e-3));
  }
  // Once a step, after the last forward pass; every other micro-batch; after the optimizer.
  const auto of_three = [](const char* keys) {
    return step({.host = work(keys), .micro_batches = 3, .steps = 2}) - 3 * (F + B);
  };
  CHECK(of_three("time: 7 ms, per: step") == nine_digits(7e-3));
  CHECK(of_three("time: 7 ms, every: 2") == nine_digits(1.5 * 7e-3));
  CHECK(of_three("time: 7 ms, after: backward") == nine_digits(3 * 7e-3));
  CHECK(of_three("time: 7 ms, after: step") == nine_digits(7e-3));
  CHECK(of_three("time: 7 ms, after: step, every: 2") == nine_digits(3.5e-3));
}

TEST_CASE("work after a step is named in the last measured step as in every other") {
  constexpr double t = 20e-3;
  const Setting after{.host = work("after: step, time: 20 ms"), .warmup = 1, .steps = 2};
  CHECK(step(after) == nine_digits(F + B + t));
  CHECK(waiting(after, Cause::cpu_work) == nine_digits(t));
  CHECK(waiting(after, Cause::pipeline_bubble) == 0);
  const Setting reading{
      .host = "launch: 0 us, sync: {every: 1, time: 20 ms}", .warmup = 1, .steps = 2};
  CHECK(waiting(reading, Cause::cpu_work) == nine_digits(t));
  CHECK(waiting(reading, Cause::pipeline_bubble) == 0);
  CHECK(waiting(reading, Cause::launch_gap) < 1e-9);
  const CauseSeconds path = with(after).metrics().critical;
  CHECK(path[static_cast<std::size_t>(Cause::cpu_work)] == nine_digits(t));
}

TEST_CASE("what CPU work needs is copied to it and back") {
  Scenario scenario = with({.host = work("time: 7 ms, to_host: 20 MB, to_gpu: 10 MB")}).scenario;
  scenario.cluster.gpu.copy_pageable = 5_GBps;
  const Experiment e(std::move(scenario), paper_graph(paper_layer(10_ms, 30_ms), 1));
  CHECK(e.step_seconds() == nine_digits(F + 4e-3 + 7e-3 + 2e-3 + B));
  CHECK(e.metrics().breakdown[static_cast<std::size_t>(Cause::cpu_work)] == nine_digits(13e-3));
}

TEST_CASE("CPU work that nobody waits for hides behind what is launched") {
  CHECK(step({.host = work("time: 7 ms, waits: false")}) == nine_digits(F + B));
  const Setting longer{.host = work("time: 14 ms, waits: false")};
  CHECK(step(longer) == nine_digits(14e-3 + B));
  CHECK(waiting(longer, Cause::cpu_work) == nine_digits(14e-3 - F));
}

TEST_CASE("a pass is compiled again in every third step, and in no other") {
  const auto recompiled = [](const char* keys) {
    return Setting{.host = fmt::format("mode: compiled, launch: 0 us, recompilation: {{{}}}", keys),
                   .warmup = 1,
                   .steps = 6};
  };
  // Steps count from 0: steps 2 and 5 of the measured steps 1 to 6 are the third of three.
  const auto check = [&](const char* keys, double longer) {
    const std::vector<double> measured = steps(recompiled(keys));
    for (std::size_t i = 0; i < measured.size(); ++i)
      CHECK(measured[i] == nine_digits(i == 1 || i == 4 ? longer : F + B));
  };
  check("time: 50 ms, every: 3", 50e-3 + F + B);
  check("time: 50 ms, every: 3, pass: backward", 50e-3 + B);
  check("time: 5 ms, every: 3, pass: backward", F + B);
  CHECK(waiting(recompiled("time: 50 ms, every: 3, pass: backward"), Cause::recompilation) ==
        nine_digits((50e-3 - F) / 3));
}

TEST_CASE("the last batch of an epoch meets another shape") {
  const std::vector<double> measured = steps(
      {.host = "mode: compiled, launch: 0 us, recompilation: {time: 50 ms, when: last_batch}",
       .micro_batches = 2,
       .steps = 8,
       .more = "data: {sample_size: 1 B, samples: 9, workers: 1, persistent_workers: true}\n"});
  for (std::size_t i = 0; i < measured.size(); ++i)
    CHECK(measured[i] == doctest::Approx((i % 4 == 3 ? 50e-3 : 0) + 2 * (F + B)).epsilon(1e-6));
}

TEST_CASE("garbage collection hurts most where ranks collect in different steps") {
  constexpr double P = 20e-3;
  const auto collecting = [](int gpus, bool aligned) {
    return Setting{.host = fmt::format("launch: 0 us, garbage_collection: {{pause: 20 ms, every: "
                                       "4, aligned: {}}}",
                                       aligned),
                   .warmup = 4,
                   .steps = 4,
                   .gpus = gpus};
  };
  const double alone = F + B;
  const double together = step({.host = "launch: 0 us", .gpus = 4});
  CHECK(step(collecting(1, true)) == nine_digits(alone + P / 4));
  CHECK(step(collecting(4, true)) == nine_digits(together + P / 4));
  CHECK(step(collecting(4, false)) == nine_digits(together + P));
  CHECK(step(collecting(2, false)) ==
        doctest::Approx(step({.host = "launch: 0 us", .gpus = 2}) + P / 2).epsilon(1e-9));
  CHECK(waiting(collecting(1, true), Cause::garbage_collection) == nine_digits(P / 4));
}

TEST_CASE("a loop that reads its loss every N steps stops its host as often") {
  constexpr double l = 1e-3, r = 2e-3;
  CHECK(step({.host = "launch: 1 ms", .steps = 10}) == nine_digits(l + F + B));
  for (const int N : {1, 2, 5, 10}) {
    CAPTURE(N);
    const Setting reading{.host = fmt::format("launch: 1 ms, sync: {{every: {}, time: 2 ms}}", N),
                          .warmup = 10,
                          .steps = 10};
    CHECK(step(reading) == nine_digits(F + B + (l + r) / N));
  }
  const Setting each{
      .host = "launch: 0 ms, sync: {per: micro_batch, time: 2 ms}", .micro_batches = 3, .steps = 2};
  CHECK(step(each) == nine_digits(3 * (F + B + r)));
}

TEST_CASE("a loop that times its passes reads after each, on every rank") {
  constexpr double r = 2e-3;
  for (const int M : {1, 4}) {
    for (const int N : {1, 2}) {
      CAPTURE(M);
      CAPTURE(N);
      const Setting timed{
          .host = fmt::format("launch: 0 ms, sync: {{per: pass, every: {}, time: 2 ms}}", N),
          .micro_batches = M,
          .warmup = 1,
          .steps = 2};
      CHECK(step(timed) == nine_digits(M * (F + B) + 2 * M * r / N));
      CHECK(times(with(timed), "read value") == 2 * M / N * 3);  // steps, with the warm-up
    }
  }
}

TEST_CASE("what takes the input of a forward pass stands before it, and nothing hides it") {
  constexpr double t = 4e-3;
  for (const int M : {1, 3}) {
    CAPTURE(M);
    for (const char* after : {"batch", "input"}) {
      CAPTURE(after);
      const auto taking = [&](const std::string& more) {
        return Setting{.host = work(fmt::format("time: 4 ms, after: {}{}", after, more)),
                       .micro_batches = M,
                       .steps = 2};
      };
      CHECK(step(taking("")) == nine_digits(M * (F + B + t)));
      CHECK(step(taking(", per: step")) == nine_digits(M * (F + B) + t));
      CHECK(step(taking(", waits: false")) <= M * (F + B) + t + 1e-9);
    }
  }
}

TEST_CASE("a launch that blocks is waited for before each kernel") {
  constexpr double l = 1e-3;
  for (const int m : {1, 4}) {
    CAPTURE(m);
    const Setting blocking{.host = "launch: 1 ms, mode: blocking", .micro_batches = m};
    const Experiment run = with(blocking);
    int kernels = 0;
    for (const Task& task : run.plan.program(0).tasks) {
      if (task.kind != TaskKind::chain) continue;
      for (const Kernel& kernel : run.plan.chains[task.work].kernels)
        kernels += kernel.is_launch() ? 0 : 1;
    }
    // A forward and a backward pass a micro-batch, and the optimizer's.
    CHECK(kernels > 2 * m);
    const double W = step({.host = "launch: 0 ms", .micro_batches = m});
    CHECK(run.step_seconds() == nine_digits(W + kernels * l));
    CHECK(waiting(blocking, Cause::launch_gap) == nine_digits(kernels * l));
    // Without launches the answer is that of a host which launches in no time.
    const Simulation free = simulate(with_free_launches(run.plan));
    CHECK(measure(run.scenario, run.graph, free).step_time.seconds() == nine_digits(W));
  }
}

TEST_CASE("with anomaly detection each backward kernel's result is looked at and waited for") {
  for (const int m : {1, 3}) {
    CAPTURE(m);
    const Setting looking{.host = "launch: 0 us, anomaly_detection: true", .micro_batches = m};
    // An element-wise kernel writes half of its bytes: they are read, a byte for two is written and
    // read again, which is as much.
    CHECK(step(looking) == nine_digits(m * (80e-6 + F + 2 * B + 6e-6)));
    // Twice as many threads as cores trace stacks half as fast.
    const Setting shared{.host = "launch: 0 us, anomaly_detection: true, cores: 1, threads: 2",
                         .micro_batches = m};
    CHECK(step(shared) == nine_digits(m * (160e-6 + F + 2 * B + 6e-6)));
  }
}

TEST_CASE("with launches that block the host does nothing beside the GPU") {
  const auto working = [](const char* mode) {
    return step({.host = fmt::format("launch: 0 us, mode: {}, cpu_work: [{{time: 5 ms, waits: "
                                     "false}}]",
                                     mode),
                 .micro_batches = 3});
  };
  CHECK(working("eager") == nine_digits(3 * (F + B)));
  CHECK(working("blocking") == nine_digits(3 * (F + B + 5e-3)));
}

TEST_CASE("a host that is far ahead hides its work, as far as the launch queue is deep") {
  // 50 micro-batches of two kernels of 10 us a step; the host works 300 us a step.
  const auto working = [](const char* depth) {
    return Setting{.host = fmt::format("launch: 1 us, sync: {{every: 1000}}{}, cpu_work: [{{time: "
                                       "300 us, per: step, waits: false}}]",
                                       depth),
                   .micro_batches = 50,
                   .warmup = 2,
                   .steps = 2,
                   .forward = 10e-6,
                   .backward = 10e-6};
  };
  const double W = 50 * 20e-6;
  CHECK(step(working("")) == nine_digits(W));
  for (const int q : {8, 16}) {
    CAPTURE(q);
    const Setting finite = working(fmt::format(", queue_depth: {}", q).c_str());
    CHECK(step(finite) >= W + 300e-6 - q * 10e-6);
    const int full = q * 7 / 8;
    CHECK(step(finite) <= W + 300e-6 - (full - 2) * 10e-6);
  }
}

TEST_CASE("a GPU that is the slower fills the queue, and the host waits; one that is faster not") {
  for (const double d : {10e-6, 1e-6}) {
    CAPTURE(d);
    const auto setting = [&](const char* depth) {
      return Setting{.host = fmt::format("launch: 5 us{}", depth),
                     .micro_batches = 50,
                     .forward = d,
                     .backward = d};
    };
    CHECK(step(setting(", queue_depth: 8")) == nine_digits(step(setting(""))));
    const int held = times(with(setting(", queue_depth: 8")), "launch queue is full");
    CHECK(held > 50 * 2 / 8);
    CHECK(times(with(setting("")), "launch queue is full") == 0);
  }
  // A whole step fits into the queue of CUDA.
  CHECK(times(with({.host = "launch: 5 us, queue_depth: 1024", .micro_batches = 50}),
              "launch queue is full") == 0);
}

TEST_CASE("passes of more kernels than the queue holds do not run dry") {
  const auto with_queue = [](const char* depth) {
    Scenario scenario =
        with({.host = fmt::format("launch: 3 us{}", depth), .micro_batches = 4}).scenario;
    Block layer = paper_layer(Seconds{0}, Seconds{0});
    for (int i = 0; i < 2000; ++i) {
      layer.dag[0].forward.emplace_back(lasting(5_us));
      layer.dag[0].backward.emplace_back(lasting(5_us));
    }
    return Experiment(std::move(scenario), paper_graph(std::move(layer), 1)).step_seconds();
  };
  CHECK(with_queue(", queue_depth: 1024") == nine_digits(3e-6 + 4 * 2 * 2000 * 5e-6));
  CHECK(with_queue(", queue_depth: 1024") == nine_digits(with_queue("")));
}

TEST_CASE("threads that are more than cores slow launches and CPU work down alike") {
  const auto busy = [](const char* cores) {
    return step({.host = fmt::format("launch: 1 ms, {}cpu_work: [{{time: 7 ms}}]", cores)});
  };
  const double l = 1e-3, t = 7e-3;
  CHECK(busy("") == nine_digits(l + F + t + l + B));
  CHECK(busy("cores: 8, threads: 8, ") == nine_digits(busy("")));
  CHECK(busy("cores: 8, threads: 20, ") == nine_digits(2.5 * (l + t + l) + F + B));
}

TEST_CASE("the loss is computed where the last stage ends, on each of its tensor ranks") {
  const Experiment e(R"(
model: {name: m, layers: 4, hidden: 512, heads: 8, vocabulary: 8192}
cluster: {name: c, gpu: a100-80, gpus_per_node: 16, intra_node: nvlink3}
training: {sequence_length: 128, global_batch: 8, micro_batch: 1, precision: bf16}
parallelism: {tensor: 2, pipeline: {stages: 4}}
host: {cpu_work: [{name: loss, time: 1 ms}, {name: norms, time: 1 ms, after: backward},
  {name: batch, time: 1 ms, after: batch}, {name: input, time: 1 ms, after: input}]}
run: {steps: 1, warmup: 0}
)");
  for (int rank = 0; rank < 16; ++rank) {
    const Program& program = e.plan.program(rank);
    const auto count = [&](const std::string& name) {
      return std::count_if(program.tasks.begin(), program.tasks.end(),
                           [&](const Task& task) { return e.plan.names[task.name] == name; });
    };
    CHECK(count("loss") == (program.stage == 3 ? 4 : 0));
    CHECK(count("norms") == 4);
    CHECK(count("batch") == (program.stage == 0 || program.stage == 3 ? 4 : 0));
    CHECK(count("input") == 4);
  }
}

TEST_CASE("micro-batches are counted over the pipeline, from whichever end they come") {
  // DualPipe: half of the losses are on the last stage, half on the first. 16 micro-batches a step
  // in each of two replicas.
  const auto count = [](const char* host, const std::string& name) {
    const Experiment e(fmt::format(R"(
model: {{name: m, layers: 8, hidden: 512, heads: 8, vocabulary: 8192}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 8, intra_node: nvlink3}}
training: {{sequence_length: 128, global_batch: 32, micro_batch: 1, precision: bf16}}
parallelism: {{pipeline: {{stages: 4, schedule: dualpipe, chunks: 2}}}}
host: {{{}}}
run: {{steps: 2, warmup: 0}}
)",
                                   host));
    std::int64_t sum = 0;
    for (int rank = 0; rank < 8; ++rank) {
      const Program& program = e.plan.program(rank);
      sum += std::count_if(program.tasks.begin(), program.tasks.end(),
                           [&](const Task& task) { return e.plan.names[task.name] == name; });
    }
    return sum;
  };
  CHECK(count("cpu_work: [{name: loss, time: 1 ms, every: 32}]", "loss") == 2);
  CHECK(count("cpu_work: [{name: loss, time: 1 ms, every: 2}]", "loss") == 32);
  CHECK(count("sync: {per: micro_batch}", "read value") == 64);
}

TEST_CASE("a run covers whole periods of what its host repeats") {
  const auto run = [](const char* host, const char* more = "") {
    return scenario_of(fmt::format("model: {{name: m, kind: mlp, layers: 1, width: 1}}\n"
                                   "cluster: {{name: c, gpu: a100-80}}\n"
                                   "training: {{global_batch: 6, precision: fp16}}\n"
                                   "host: {{{}}}\n{}",
                                   host, more))
        .run;
  };
  CHECK(run("").steps == 2);
  CHECK(run("sync: {every: 10}").steps == 10);
  CHECK(run("sync: {every: 4, per: micro_batch}").steps == 2);  // 12 micro-batches
  CHECK(run("garbage_collection: {pause: 1 s, every: 4}, sync: {every: 6}").steps == 12);
  CHECK(run("mode: compiled, recompilation: {time: 1 s, when: last_batch}",
            "data: {sample_size: 1 B, samples: 45, workers: 1, prefetch: 1}\n")
            .steps == 7);
}

TEST_CASE("compiled code launches faster, and a graph is launched at once") {
  const auto launch = [](const char* host) { return with({.host = host}).scenario.host.launch; };
  CHECK(launch("mode: eager") == 16_us);
  CHECK(launch("mode: blocking") == 16_us);
  CHECK(launch("mode: graph") == 5_us);
  CHECK(launch("mode: compiled") == 3_us);
  CHECK(launch("mode: compiled, launch: 4 us") == 4_us);
}

TEST_CASE("Python's launches go by the speed of the CPU") {
  const auto launch = [](const char* host, std::optional<Framework> framework = {}) {
    const Scenario s = with({.host = host}).scenario;
    return default_launch(framework, s.host.mode, s.host.pace, s.host.speed).seconds() * 1e6;
  };
  CHECK(launch("pace: calls, speed: 0.25") == doctest::Approx(40));
  CHECK(with({.host = "pace: calls, speed: 0.25"}).scenario.host.launch.seconds() ==
        doctest::Approx(40e-6));
  CHECK(launch("mode: compiled", Framework::pytorch_fsdp2) ==
        doctest::Approx(8.6 / kUsualCpuSpeed));
  CHECK(launch("mode: compiled", Framework::megatron) == doctest::Approx(3));
  const Setting measured{.host = "mode: compiled, speed: 0.29", .more = "framework: pytorch-fsdp2"};
  CHECK(with(measured).scenario.host.launch.seconds() == doctest::Approx(8.6e-6 / 0.29));
  CHECK(launch("mode: graph", Framework::pytorch_fsdp2) == doctest::Approx(5));
}

TEST_CASE("at the pace of calls these take their time besides launches, by the host's speed") {
  const auto took = [](const std::string& host) {
    return step({.host = host, .forward = 1e-9, .backward = 1e-9});
  };
  const auto at = [&](const char* speed) {
    return took(fmt::format("pace: calls, launch: 0 us, speed: {}", speed));
  };
  const double nothing = took("launch: 0 us");
  const double calls = at("1") - nothing;
  // A module forward; backward a node, the gradient and its hook; the update.
  const Seconds expected = host_cost::module.forward + host_cost::node.backward +
                           host_cost::parameter.backward + host_cost::hook.backward +
                           host_cost::optimizer_tensor.no_graph;
  CHECK(calls == doctest::Approx(expected.seconds()).epsilon(1e-3));
  CHECK(at("2") - nothing == doctest::Approx(calls / 2).epsilon(1e-3));
  CHECK(at("0.5") - nothing == doctest::Approx(calls * 2).epsilon(1e-3));
  const double launches = took("launch: 7 us") - nothing;
  CHECK(took("pace: calls, launch: 7 us") - nothing ==
        doctest::Approx(calls + launches).epsilon(1e-3));
  // Twice as many threads as cores.
  CHECK(took("pace: calls, launch: 0 us, cores: 1, threads: 2") - nothing ==
        doctest::Approx(2 * calls).epsilon(1e-3));
}

TEST_CASE("at the pace of calls a collective takes what is published of it, at any speed") {
  const auto calls = [](int gpus, const char* speed, const char* more = "") {
    const auto took = [&](const std::string& host) {
      return step({.host = host, .gpus = gpus, .forward = 1e-9, .backward = 1e-9});
    };
    return took(fmt::format("pace: calls, launch: 0 us, speed: {}{}", speed, more)) -
           took("launch: 0 us");
  };
  const auto of_the_collective = [&](const char* speed) {
    return calls(2, speed) - calls(1, speed);
  };
  const double published = host_published::collective.seconds();
  CHECK(of_the_collective("1") == doctest::Approx(published).epsilon(1e-3));
  CHECK(of_the_collective("0.5") == doctest::Approx(published).epsilon(1e-3));
  // Threads that share cores share them here, too.
  CHECK(calls(2, "1", ", cores: 1, threads: 1") ==
        doctest::Approx(2 * calls(2, "1")).epsilon(1e-3));
}

TEST_CASE("free launches free the host of its calls, too") {
  const Experiment slow = with({.host = "pace: calls, speed: 0.01"});
  const Plan free = with_free_launches(slow.plan);
  REQUIRE(!free.chains.empty());
  for (const Chain& chain : free.chains) CHECK(chain.launch == 0);
}
