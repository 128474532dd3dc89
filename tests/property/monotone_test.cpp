// Faster hardware never makes a step longer, more work never shorter, and slower clocks stretch it
// evenly.
//
// Where nothing contends a step is a formula of sums and maxima, hence monotone and homogeneous in
// all times. (Where transfers contend, one that starts earlier may meet another one that it had
// missed: no such promise is made.)
#include <cmath>
#include <functional>
#include <variant>

#include <doctest/doctest.h>

#include "sim/engine/simulate.hpp"
#include "tests/property/random_scenario.hpp"

using namespace stepsim;

namespace {

constexpr int kScenarios = 40;
constexpr double kExact = 1e-9;

/// NCCL chooses by constants of its own, which know nothing of faster links; and on measured links
/// its latencies between nodes are what they are.
void state_algorithms(Scenario& scenario, bool measured) {
  Collectives& c = scenario.collectives;
  for (CollectiveChoice* choice : {&c.all_reduce, &c.all_gather, &c.reduce_scatter}) {
    if (choice->algorithm == "auto") choice->algorithm = "ring";
  }
  LinkProfile& link = scenario.cluster.intra_node;
  if (measured) return;
  for (auto* lines : {&link.all_reduce, &link.all_gather, &link.reduce_scatter, &link.all_to_all})
    lines->clear();
}

/// NCCL searches its channels among speeds of its own, too: over links half as fast it may find
/// half as many, each of which holds an SM, and kernels beside a collective are then faster. That
/// is what NCCL does, and no law of scale: what is k times as slow has the SMs of what it was.
/// Where nothing contends (the other tests here) no SMs are held, and channels change nothing.
void keep_channels(const Plan& before, Plan& after) {
  if (after.operations.size() != before.operations.size()) return;
  for (std::size_t i = 0; i < after.operations.size(); ++i)
    after.operations[i].held_sms = before.operations[i].held_sms;
}

/// Calls `check` with the run time of random scenarios before and after `change`. With contention
/// collectives hold as many SMs after it as before.
void compare(bool contention, bool measured, const std::function<bool(Scenario&)>& change,
             const std::function<void(double before, double after)>& check) {
  int changed = 0;
  for (int seed = 0; seed < kScenarios; ++seed) {
    const RandomScenario random(static_cast<std::uint64_t>(seed), contention);
    CAPTURE(seed);
    CAPTURE(random.text());
    Scenario scenario = random.scenario();
    state_algorithms(scenario, measured);
    const Plan first = random.plan(scenario);
    if (!change(scenario)) continue;
    ++changed;
    Plan second = random.plan(scenario);
    if (contention) keep_channels(first, second);
    check(simulate(first).timeline.step_ends.back(), simulate(second).timeline.step_ends.back());
  }
  CHECK(changed > kScenarios / 5);
}

/// At least one scenario must also be strictly faster, or the change changes nothing.
void check_faster(const std::function<bool(Scenario&)>& change) {
  int faster = 0;
  compare(false, true, change, [&](double before, double after) {
    CHECK(after <= before * (1 + kExact));
    if (after < before * (1 - 1e-6)) ++faster;
  });
  CHECK(faster > 0);
}

void slow_down(GpuProfile& gpu, double k) {
  for (GemmProfile& gemm : gpu.gemm) {
    gemm.peak = gemm.peak / k;
    gemm.overhead *= k;
    if (auto* tiled = std::get_if<TiledGemm>(&gemm.form)) tiled->split_overhead *= k;
  }
  MemoryProfile& memory = gpu.memory_kernels;
  memory.latency *= k;
  for (BytesPerSecond* rate : {&memory.elementwise, &memory.norm, &memory.softmax, &memory.dropout,
                               &memory.loss, &memory.optimizer, &memory.permute,
                               &gpu.memory_bandwidth, &gpu.copy_pinned, &gpu.copy_pageable}) {
    *rate = *rate / k;
  }
  for (AttentionProfile& attention : gpu.attention) {
    attention.plateau = attention.plateau / k;
    attention.full_plateau = attention.full_plateau / k;
    attention.overhead *= k;
  }
}

void slow_down(LinkProfile& link, double k) {
  link.bandwidth = link.bandwidth / k;
  link.latency *= k;
}

/// Every rate divided, every fixed time multiplied by k.
void slow_down(Scenario& scenario, double k) {
  slow_down(scenario.cluster.gpu, k);
  slow_down(scenario.cluster.intra_node, k);
  scenario.cluster.inter_node->bandwidth = scenario.cluster.inter_node->bandwidth / k;
  scenario.cluster.inter_node->latency *= k;
  scenario.cluster.inter_node->peer_latency *= k;
  scenario.host.launch *= k;
  if (!scenario.data) return;
  scenario.data->storage.bandwidth = scenario.data->storage.bandwidth / k;
  scenario.data->storage.latency *= k;
  scenario.data->decode *= k;
}

}  // namespace

TEST_CASE("faster NICs never make a step longer") {
  check_faster([](Scenario& scenario) {
    scenario.cluster.inter_node->bandwidth *= 1.7;
    return scenario.cluster.nodes > 1;
  });
}

TEST_CASE("a faster link inside the node never makes a step longer") {
  check_faster([](Scenario& scenario) {
    LinkProfile& link = scenario.cluster.intra_node;
    link.bandwidth *= 1.7;
    return link.all_reduce.empty() && scenario.cluster.gpus_per_node > 1;
  });
}

TEST_CASE("faster launches never make a step longer") {
  check_faster([](Scenario& scenario) {
    scenario.host.launch *= 0.6;
    return true;
  });
}

TEST_CASE("faster memory never makes a step longer") {
  check_faster([](Scenario& scenario) {
    scenario.cluster.gpu.memory_kernels.elementwise *= 1.5;
    return true;
  });
}

TEST_CASE("more layers never make a step shorter") {
  const auto twice = [](Scenario& scenario) {
    std::visit(
        [](auto& shape) {
          if constexpr (requires { shape.layers; }) shape.layers *= 2;
        },
        scenario.model.shape);
    return true;
  };
  compare(false, true, twice, [](double before, double after) { CHECK(after > before); });
}

TEST_CASE(
    "when every rate is divided and every fixed time multiplied by k, the step is k times as "
    "long") {
  for (const double k : {2.0, 3.0}) {
    const auto slower = [&](Scenario& scenario) {
      slow_down(scenario, k);
      return true;
    };
    compare(true, false, slower, [&](double before, double after) {
      CHECK(std::abs(after - k * before) <= kExact * after);
    });
  }
}
