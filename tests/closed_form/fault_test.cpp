// Slow GPUs, slow links and jitter, where pencil and paper know what they cost.
//
// Ranks that reduce after their backward pass wait for the last of them: a stall of d, or kernels
// that take f times as long, make the step longer by d, or by (f - 1) x compute.
// A link of capacity C that has x C in a window of length w moves (1 - x) C w less in it, and ends
// (1 - x) w later; a link that is down for w ends w later.
// The slowest of n draws that are uniform within m (1 +- a) is m (1 + a (n - 1) / (n + 1)) on
// average, with the variance (2 a m)^2 n / ((n + 1)^2 (n + 2)) (David and Nagaraja 2003, section
// 3.1).
#include <cmath>

#include <fmt/format.h>

#include "sim/report/measure/straggler.hpp"
#include "sim/timeline/pace.hpp"
#include "sim/timeline/partition.hpp"
#include "tests/closed_form/board_calls.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double kForward = 4e-3, kBackward = 8e-3;
constexpr int kLayers = 3;
constexpr double kCompute = kLayers * (kForward + kBackward);
constexpr double kElements = 1e9;

/// Eight ranks that reduce their gradients after the backward pass.
Experiment replicas(const std::string& more = "", int nodes = 1) {
  return Experiment(
      on_paper(fmt::format(R"(
model: {{name: m, kind: mlp, layers: 3, width: 1}}
cluster:
  name: c
  gpu: a100-80
  nodes: {}
  gpus_per_node: {}
  intra_node: {{bandwidth: 100 GB/s, latency: 0 us}}
  inter_node: {{bandwidth: 25 GB/s, latency: 0 us}}
training: {{global_batch: 8, precision: fp16, gradient_clipping: false}}
parallelism: {{data: {{overlap: false}}}}
host: {{launch: 0 us}}
{}
)",
                           nodes, 8 / nodes, more)),
      paper_graph(paper_layer(Seconds{kForward}, Seconds{kBackward}, kElements), kLayers));
}

/// Seconds of a step, folded; checks that unfolding gives equal seconds.
double step_of(const Experiment& experiment) {
  const double folded = experiment.step_seconds();
  CHECK(folded == nine_digits(experiment.step_seconds({.fold = false})));
  return folded;
}

std::vector<Straggler> stragglers(const Experiment& experiment, bool fold = true) {
  const Timeline timeline = experiment.run({.fold = fold}).timeline;
  const std::vector<RankPace> paces = paces_of(timeline);
  REQUIRE(paces.size() == timeline.paces.size());
  for (std::size_t i = 0; i < paces.size(); ++i) {
    CHECK(paces[i].rank == timeline.paces[i].rank);
    CHECK(paces[i].work == nine_digits(timeline.paces[i].work));
    CHECK(std::abs(paces[i].stall - timeline.paces[i].stall) < 1e-12);
  }
  return stragglers_of(timeline);
}

/// When a transfer of that size ends that is alone on a link of 100 GB/s.
double end_of(double bytes, const std::vector<LinkWindow>& windows, double rate = 1e30,
              double start = 0) {
  Folding folding;
  folding.links = {100_GBps};
  folding.windows = windows;
  folding.groups.resize(1);
  folding.groups[0].streams[0].push_back(
      {.crossings = {{0, 1}}, .varies = true, .alone = 100_GBps});
  BoardCalls board(folding);
  double end = -1;
  board.at(start, [&](double) {
    board.transfer(folding.groups[0].streams[0][0], bytes, rate, start,
                   [&](double date) { end = date; });
  });
  board.run();
  return end;
}

}  // namespace

TEST_CASE("one rank that stalls makes the step longer by its stall, and is the straggler") {
  const double healthy = step_of(replicas());
  const Experiment late = replicas("faults: {slow_gpus: [{ranks: [5], delay: 50 ms}]}");
  CHECK(step_of(late) == nine_digits(healthy + 50e-3));
  const Metrics metrics = late.metrics();
  CHECK(metrics.samples_per_s == nine_digits(8 / (healthy + 50e-3)));
  CHECK(metrics.breakdown[static_cast<std::size_t>(Cause::stall)] == nine_digits(50e-3));
  CHECK(metrics.engine.ranks_simulated == 2);
  for (const bool fold : {true, false}) {
    const auto found = stragglers(late, fold);
    REQUIRE(found.size() == 1);
    CHECK(found[0].ranks == std::vector{5});
    CHECK(found[0].late.seconds() == nine_digits(50e-3));
    CHECK(found[0].stall.seconds() == nine_digits(50e-3));
  }
}

TEST_CASE("the others wait for a straggler to join, and that is what their time is called") {
  const Experiment late = replicas("faults: {slow_gpus: [{ranks: [5], delay: 50 ms}]}");
  const Timeline timeline = late.run().timeline;
  REQUIRE(timeline.ranks.size() == 2);
  const RankTimeline& peer = timeline.ranks[0];
  CHECK(peer.members == std::vector{0, 1, 2, 3, 4, 6, 7});
  const CauseSeconds causes =
      partition(timeline, peer, timeline.step_ends[1], timeline.step_ends[2]);
  CHECK(causes[static_cast<std::size_t>(Cause::sync_wait)] == nine_digits(50e-3));
}

TEST_CASE("a GPU that takes 1.5 times as long makes the step longer by half of the compute") {
  const double healthy = step_of(replicas());
  const Experiment slow = replicas("faults: {slow_gpus: [{ranks: [2], factor: 1.5}]}");
  CHECK(step_of(slow) == nine_digits(healthy + 0.5 * kCompute));
  const auto found = stragglers(slow);
  REQUIRE(found.size() == 1);
  CHECK(found[0].ranks == std::vector{2});
  CHECK(found[0].factor == nine_digits(1.5));
  CHECK(found[0].stall.seconds() == 0);
}

TEST_CASE("factors of one rank multiply and delays add up") {
  const double healthy = step_of(replicas());
  CHECK(step_of(replicas("faults: {slow_gpus: [{ranks: [2], factor: 1.5, delay: 5 ms}, "
                         "{nodes: [0], factor: 1.2, delay: 7 ms}]}")) ==
        nine_digits(healthy + (1.5 * 1.2 - 1) * kCompute + 12e-3));
}

TEST_CASE("where all GPUs are slow none is a straggler") {
  const Experiment all = replicas("faults: {slow_gpus: [{fraction: 100 %, factor: 1.5}]}");
  CHECK(step_of(all) == nine_digits(step_of(replicas()) + 0.5 * kCompute));
  CHECK(stragglers(all).empty());
  CHECK(all.metrics().engine.ranks_simulated == 1);
}

TEST_CASE("of several slow GPUs each is named, the latest first") {
  const Experiment two =
      replicas("faults: {slow_gpus: [{ranks: [2, 7], factor: 1.5}, {ranks: [0], delay: 50 ms}]}");
  const auto found = stragglers(two);
  REQUIRE(found.size() == 2);
  CHECK(found[0].ranks == std::vector{0});
  CHECK(found[1].ranks == std::vector{2, 7});
  CHECK(ranks_of(found) == std::vector{0, 2, 7});
}

TEST_CASE("without its stragglers a plan is that of healthy ranks") {
  const Experiment late = replicas("faults: {slow_gpus: [{ranks: [5], delay: 50 ms}]}");
  const Plan healed = make_plan(late.scenario, late.graph, {.healthy = {5}});
  CHECK(mean_step(simulate(healed).timeline).seconds() == nine_digits(step_of(replicas())));
}

TEST_CASE("a fraction draws as many ranks as it makes, others for another seed or replica") {
  const auto members = [](int seed, int replica) {
    const Scenario s = on_paper(
        fmt::format("model: {{name: m, kind: mlp, layers: 1, width: 1}}\n"
                    "cluster: {{gpu: a100-80, gpus_per_node: 8, nodes: 8, intra_node: nvlink3, "
                    "inter_node: {{bandwidth: 25 GB/s, latency: 0 us}}}}\n"
                    "training: {{global_batch: 64, precision: fp16}}\n"
                    "faults: {{slow_gpus: [{{fraction: 12.5 %, factor: 2}}]}}\nrun: {{seed: {}}}\n",
                    seed));
    const auto slowness = slowness_of_ranks(s, {.replica = replica});
    std::vector<std::size_t> slow;
    for (std::size_t rank = 0; rank < slowness.size(); ++rank) {
      if (slowness[rank].factor == 2) slow.push_back(rank);
    }
    return slow;
  };
  CHECK(members(1, 0).size() == 8);
  CHECK(members(1, 0) == members(1, 0));
  CHECK(members(1, 0) != members(2, 0));
  CHECK(members(1, 0) != members(1, 1));
}

TEST_CASE("a slow link takes what a window leaves, whatever happens around it") {
  CHECK(end_of(100e9, {}) == nine_digits(1.0));
  CHECK(end_of(100e9, {{.factor = 0.5, .from = 0, .until = 1e6}}) == nine_digits(2.0));
  CHECK(end_of(100e9, {{.factor = 0.5, .from = 0.25, .until = 0.75}}) == nine_digits(1.25));
  CHECK(end_of(100e9, {{.factor = 0, .from = 0.25, .until = 0.75}}) == nine_digits(1.5));
  CHECK(end_of(100e9, {{.factor = 0, .from = 0, .until = 0.5}}) == nine_digits(1.5));
  // Slower than the window's half: it does not notice.
  CHECK(end_of(100e9, {{.factor = 0.5, .from = 0.25, .until = 0.75}}, 40e9) == nine_digits(2.5));
  // Two windows: half from 0.2 to 0.4, a quarter from 0.4 to 0.6 and a half again until 0.8, when
  // 20 + 10 + 5 + 10 = 45 GB have moved.
  CHECK(end_of(100e9, {{.factor = 0.5, .from = 0.2, .until = 0.6},
                       {.factor = 0.5, .from = 0.4, .until = 0.8}}) == nine_digits(0.8 + 0.55));
}

TEST_CASE("a transfer that starts while its link is slow is faster when the link is") {
  // 40 % of a second at 20 GB/s, and the other 92 GB at 100 GB/s.
  CHECK(end_of(100e9, {{.factor = 0.2, .from = 0, .until = 0.5}}, 1e30, 0.1) == nine_digits(1.42));
  CHECK(end_of(100e9, {{.factor = 0, .from = 0, .until = 0.5}}, 1e30, 0.1) == nine_digits(1.5));
  CHECK(end_of(100e9, {{.factor = 0.2, .from = 0, .until = 0.5}}, 10e9, 0.1) == nine_digits(10.1));
}

TEST_CASE("a link that flaps moves what fits between") {
  // Down for the second half of each second: 50 GB a second, and the last 50 in half of one.
  CHECK(end_of(300e9, {{.factor = 0, .from = 0.5, .until = 1, .period = 1}}) == nine_digits(5.5));
  // At half: 75 GB a second.
  CHECK(end_of(300e9, {{.factor = 0.5, .from = 0.5, .until = 1, .period = 1}}) == nine_digits(4.0));
}

TEST_CASE("an all-reduce over a NIC at half of its bandwidth takes twice as long") {
  const Experiment healthy = replicas("", 8);
  const double reduction = step_of(healthy) - kCompute;
  // A ring of eight: 2 x 7/8 of the fp16 gradients over each NIC.
  CHECK(reduction == nine_digits(kLayers * kElements * 2 * 2 * 7 / 8 / 25e9));
  const Experiment slow =
      replicas("faults: {slow_links: [{links: [\"node 3 nic 0 up\"], factor: 50 %}]}", 8);
  CHECK(step_of(slow) == nine_digits(kCompute + 2 * reduction));
  CHECK(step_of(replicas("faults: {slow_links: [{ranks: [3], factor: 50 %}]}", 8)) ==
        nine_digits(kCompute + 2 * reduction));
}

TEST_CASE("a NIC that is slow for a while makes the step longer by what it does not move then") {
  const double reduction = step_of(replicas("", 8)) - kCompute;
  // Without warm-up the first all-reduce begins after the compute of the first step.
  const Experiment slow = replicas(
      fmt::format(
          "run: {{warmup: 0, steps: 1}}\nfaults: {{slow_links: [{{nodes: [6], factor: 20 %, "
          "from: {} s, until: {} s}}]}}",
          kCompute + 0.25 * reduction, kCompute + 0.5 * reduction),
      8);
  CHECK(step_of(slow) == nine_digits(kCompute + reduction + 0.8 * 0.25 * reduction));
}

TEST_CASE("draws of one value make every kernel and every collective that many times as long") {
  const double reduction = step_of(replicas()) - kCompute;
  CHECK(step_of(replicas("faults: {jitter: {kernels: {distribution: empirical, values: [7], "
                         "mean: 1.3}}}")) == nine_digits(1.3 * kCompute + reduction));
  CHECK(step_of(replicas("faults: {jitter: {kernels: {distribution: empirical, values: [7], "
                         "mean: 1.3, ranks: [4]}}}")) == nine_digits(1.3 * kCompute + reduction));
  CHECK(step_of(replicas("faults: {jitter: {collectives: {distribution: empirical, values: [7], "
                         "mean: 2}}}")) == nine_digits(kCompute + 2 * reduction));
}

TEST_CASE("only what jitter touches is unfolded") {
  const auto simulated = [](const std::string& faults) {
    return replicas("faults: {jitter: {" + faults + "}}").metrics().engine.ranks_simulated;
  };
  CHECK(simulated("collectives: {sigma: 5 %}") == 1);
  CHECK(simulated("kernels: {sigma: 5 %, ranks: [4]}") == 2);
  CHECK(simulated("kernels: {sigma: 5 %, fraction: 25 %}") == 3);
  CHECK(simulated("kernels: {sigma: 5 %}") == 8);
}

TEST_CASE("a step waits for the slowest of its ranks: the largest of eight uniform draws") {
  constexpr int kSteps = 2000;
  const double reduction = step_of(replicas()) - kCompute;
  const Experiment jitter = replicas(fmt::format(
      "run: {{steps: {}}}\nfaults: {{jitter: {{kernels: {{distribution: uniform, sigma: 10 %, per: "
      "step}}}}}}",
      kSteps));
  const double a = std::sqrt(3.0) * 0.1;
  const double expected = kCompute * (1 + a * 7 / 9) + reduction;
  const double deviation = kCompute * 2 * a * std::sqrt(8.0 / (81 * 10));
  CHECK(std::abs(jitter.step_seconds() - expected) < 5 * deviation / std::sqrt(kSteps));
}

TEST_CASE("jitter of single kernels averages out over a pass, that of steps does not") {
  const auto spread = [](const char* per) {
    const Experiment jitter = replicas(
        fmt::format("run: {{steps: 500}}\nfaults: {{jitter: {{kernels: {{sigma: 10 %, per: {}, "
                    "ranks: [0]}}}}}}",
                    per));
    const Metrics m = jitter.metrics();
    double squares = 0;
    for (const Seconds step : m.steps) squares += std::pow((step - m.step_time).seconds(), 2);
    return std::sqrt(squares / static_cast<double>(m.steps.size()));
  };
  CHECK(spread("step") > 1.5 * spread("call"));
  CHECK(spread("run") < 1e-12);
}
