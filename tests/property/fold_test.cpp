// Folding is exact: one rank of each class gives the same step times as all ranks together.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/timeline/partition.hpp"
#include "tests/property/random_scenario.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

constexpr int kScenarios = 100;
constexpr double kExact = 1e-9;

void check_causes(const Timeline& timeline) {
  for (const RankTimeline& rank : timeline.ranks) {
    for (std::size_t step = 0; step < timeline.step_ends.size(); ++step) {
      CAPTURE(rank.rank);
      CAPTURE(step);
      const double from = timeline.step_start(step), to = timeline.step_ends[step];
      double sum = 0;
      for (const double part : partition(timeline, rank, from, to)) {
        CHECK(part >= -kExact * (to - from));
        sum += part;
      }
      CHECK(std::abs(sum - (to - from)) <= kExact * (to - from));
    }
  }
}

Folding fold_text(const std::string& text, bool fold) {
  const Scenario scenario = parse_scenario(text, "folded.yaml", Library{{source_folder()}});
  return fold_plan(make_plan(scenario, build(scenario)), fold);
}

void check_folding(const std::string& text) {
  const Scenario scenario = parse_scenario(text, "folded.yaml", Library{{source_folder()}});
  const Plan plan = make_plan(scenario, build(scenario));
  const Simulation folded = simulate(plan, {.fold = true});
  const Simulation unfolded = simulate(plan, {.fold = false});
  CHECK(folded.timeline.step_ends == unfolded.timeline.step_ends);
  check_causes(folded.timeline);
  CHECK(folded.stats.ranks_simulated < unfolded.stats.ranks_simulated);
}

/// Two stages of three ranks each, one a node: 0 to 2 send to 3 to 5.
std::string six_nodes(const std::string& network) {
  return "cluster: {name: six, gpu: a100-80, nodes: 6, gpus_per_node: 1, inter_node: {" + network +
         ", bandwidth: 100 Gbit/s, latency: 5 us}}\n"
         "model: {name: m, kind: mlp, layers: 4, width: 512}\n"
         "training: {global_batch: 12, precision: bf16}\n"
         "parallelism: {pipeline: {stages: 2}}\n";
}

}  // namespace

TEST_CASE("causes sum to the step, folded and unfolded, in random scenarios") {
  for (int seed = 0; seed < kScenarios; ++seed) {
    const RandomScenario random(static_cast<std::uint64_t>(seed), true);
    CAPTURE(seed);
    CAPTURE(random.text());
    const Scenario scenario = random.scenario();
    const Plan plan = random.plan(scenario);
    check_causes(simulate(plan, {.fold = true}).timeline);
    check_causes(simulate(plan, {.fold = false}).timeline);
  }
}

TEST_CASE("folded and unfolded runs of a ResNet take equally long") {
  for (const char* sharding : {"ddp", "zero1", "zero2", "zero3"}) {
    CAPTURE(sharding);
    check_folding(fmt::format(
        "model: {{base: resnet50, image: 64}}\n"
        "cluster: {{base: dgx-a100-80, nodes: 2}}\n"
        "training: {{global_batch: 256, micro_batch: 8, precision: fp16, optimizer: momentum}}\n"
        "parallelism: {{data: {{sharding: {}}}}}\n",
        sharding));
  }
}

TEST_CASE("folded and unfolded runs of a DLRM take equally long") {
  for (const char* embedding : {"table", "row"}) {
    CAPTURE(embedding);
    check_folding(
        fmt::format("model: dlrm-criteo-1tb\n"
                    "cluster: {{base: dgx-a100-80, nodes: 3}}\n"
                    "training: {{global_batch: 24576, micro_batch: 512, precision: fp16}}\n"
                    "parallelism: {{embedding: {}}}\n",
                    embedding));
  }
}

TEST_CASE("a first rank unlike the others folds exactly") {
  for (const auto& each : {std::pair{"{base: dgx-a100-80, nodes: 3}", 24},
                           {"{base: dgx-a100-80, gpus_per_node: 4}", 4},
                           {"{base: dgx-1v}", 8}}) {
    const char* cluster = each.first;
    const int gpus = each.second;
    CAPTURE(cluster);
    const std::string text = fmt::format(
        "model: {{base: dlrm-criteo-1tb, fused_interaction: true}}\ncluster: {}\n"
        "training: {{global_batch: {}, micro_batch: 512, precision: fp16}}\n"
        "parallelism: {{bottom_mlp: first}}\n",
        cluster, 512 * gpus);
    CHECK(fold_text(text, true).ranks.size() >= 2);
    check_folding(text);
  }
}

TEST_CASE("background on a link splits off what uses it, and folding stays exact") {
  const auto busy = [](const char* links) {
    std::string text = six_nodes("topology: rail");
    text.insert(text.find("}}") + 1,
                fmt::format(", background: [{{links: {}, rate: 4 GB/s}}]", links));
    return text;
  };
  CHECK(fold_text(busy("node * nic 0 up"), true).ranks.size() == 2);
  CHECK(fold_text(busy("node 0 nic 0 up"), true).ranks.size() > 2);
  for (const char* links : {"node * nic 0 up", "node 0 nic 0 up", "node 4 *"}) {
    CAPTURE(links);
    check_folding(busy(links));
  }
}

TEST_CASE("nodes and fabrics of all kinds fold exactly") {
  for (const char* kind : {"nvswitch", "full_mesh", "hybrid_cube_mesh", "pcie"}) {
    for (const char* fabric :
         {"topology: rail, nodes_per_leaf: 2, oversubscription: 3",
          "topology: fat_tree, nodes_per_leaf: 1, leaves_per_pod: 2, oversubscription: [2, 3]",
          "topology: torus, sizes: [2, 2]", "topology: dragonfly, routers_per_group: 2",
          "topology: custom, switches: [s], links: [{from: node 0..3, to: s, bandwidth: 9 "
          "GB/s}]"}) {
      CAPTURE(kind);
      CAPTURE(fabric);
      check_folding(fmt::format(
          "model: {{name: m, kind: mlp, layers: 4, width: 2048}}\n"
          "cluster: {{name: c, gpu: a100-80, nodes: 4, gpus_per_node: 8, node_topology: {}, "
          "intra_node: {{bandwidth: 60 GB/s, latency: 3 us}}, inter_node: {{{}, nics_per_node: 4, "
          "bandwidth: 100 Gbit/s, latency: 5 us}}}}\n"
          "training: {{global_batch: 64, precision: bf16}}\n"
          "parallelism: {{pipeline: {{stages: 2}}}}\n",
          kind, fabric));
    }
  }
}

TEST_CASE("ranks that send over a leaf's up-link are another class than those that stay below it") {
  CHECK(fold_text(six_nodes("topology: rail"), true).ranks.size() == 2);
  // With one stage a leaf, all transfers between stages cross leaves, and all others stay below
  // one.
  CHECK(fold_text(six_nodes("topology: fat_tree, nodes_per_leaf: 3"), true).ranks.size() == 2);
  // 0 sends to 3 below the first leaf, 1 and 2 to 4 and 5 over the spine.
  CHECK(fold_text(six_nodes("topology: fat_tree, nodes_per_leaf: 4"), true).ranks.size() == 4);
}

TEST_CASE("without folding every rank is a class") {
  CHECK(fold_text(six_nodes("topology: rail"), false).ranks.size() == 6);
}

TEST_CASE("two stages in a circle are two classes, though each sends to the other") {
  const Folding folding = fold_text(
      "cluster: {name: c, gpu: a100-80, gpus_per_node: 4, intra_node: nvlink3}\n"
      "model: {name: m, kind: mlp, layers: 4, width: 512}\n"
      "training: {global_batch: 8, precision: bf16}\n"
      "parallelism: {pipeline: {stages: 2, schedule: interleaved, chunks: 2}}\n",
      true);
  REQUIRE(folding.ranks.size() == 2);
  for (const FoldedRank& rank : folding.ranks) {
    CHECK(rank.multiplicity == 2);
    const auto send = static_cast<std::size_t>(Channel::send_forward);
    const auto receive = static_cast<std::size_t>(Channel::receive_forward);
    CHECK(rank.group_of[send] != rank.group_of[receive]);
  }
}

TEST_CASE("a transfer of a class takes as many shares of a link as members of its class cross it") {
  const Folding folding = fold_text(
      "cluster: {name: c, gpu: a100-80, nodes: 2, gpus_per_node: 4, intra_node: nvlink3, "
      "inter_node: {nics_per_node: 2, bandwidth: 100 Gbit/s, latency: 5 us}}\n"
      "model: {name: m, kind: mlp, layers: 2, width: 512}\n"
      "training: {global_batch: 4, precision: bf16}\n"
      "parallelism: {pipeline: {stages: 2}}\n",
      true);
  REQUIRE(folding.ranks.size() == 2);
  int transfers = 0;
  for (const FoldedGroup& group : folding.groups) {
    if (group.channel != Channel::send_forward && group.channel != Channel::send_backward) continue;
    ++transfers;
    const auto& streams = group.streams[static_cast<std::size_t>(Pattern::neighbours)];
    REQUIRE(streams.size() == 1);
    // Two GPUs a NIC; the sending and the receiving NIC are loaded alike, hence one link. They go
    // both at once: nothing else is on it.
    CHECK(streams[0].crossings.empty());
    CHECK(std::ranges::any_of(folding.links,
                              [&](BytesPerSecond link) { return streams[0].alone == link / 2.0; }));
  }
  CHECK(transfers == 2);
}

TEST_CASE("two copies of a model fold to one rank a stage, as one copy does") {
  const auto text = [](const std::string& schedule) {
    return "model: {base: llama2-7b, layers: 8}\ncluster: {base: dgx-h100, nodes: 12}\n"
           "training: {sequence_length: 512, global_batch: 192, attention: flash2}\n"
           "parallelism: {pipeline: {stages: 4, " +
           schedule + "}, data: {sharding: zero1}}\n";
  };
  CHECK(fold_text(text("schedule: 1f1b"), true).ranks.size() == 4);
  CHECK(fold_text(text("schedule: dualpipe, chunks: 2"), true).ranks.size() == 4);
  check_folding(text("schedule: dualpipe, chunks: 2"));
}
