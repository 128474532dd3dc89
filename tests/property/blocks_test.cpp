// A plan of one block folds as the plan of all ranks does, and takes as long to the last bit.
#include <doctest/doctest.h>

#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/fold.hpp"
#include "tests/property/random_scenario.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

constexpr int kScenarios = 200;
constexpr int kMore = 4;  // times as many nodes as the random scenario has, all in data ranks

void check_same_stream(const FoldedStream& one, const FoldedStream& other) {
  CHECK(one.share == other.share);
  CHECK(one.alone == other.alone);
  CHECK(one.crossings == other.crossings);
}

void check_same_group(const FoldedGroup& one, const FoldedGroup& other) {
  CHECK(one.channel == other.channel);
  CHECK(one.members == other.members);
  for (std::size_t pattern = 0; pattern < kPatterns; ++pattern) {
    REQUIRE(one.streams[pattern].size() == other.streams[pattern].size());
    for (std::size_t i = 0; i < one.streams[pattern].size(); ++i)
      check_same_stream(one.streams[pattern][i], other.streams[pattern][i]);
  }
}

void check_same_folding(const Plan& one_plan, const Plan& other_plan) {
  const Folding one = fold_plan(one_plan, true), other = fold_plan(other_plan, true);
  CHECK(one.ranks_total == other.ranks_total);
  CHECK(one.links == other.links);
  REQUIRE(one.ranks.size() == other.ranks.size());
  for (std::size_t i = 0; i < one.ranks.size(); ++i) {
    CHECK(one.ranks[i].rank == other.ranks[i].rank);
    CHECK(one.ranks[i].multiplicity == other.ranks[i].multiplicity);
    CHECK(one.ranks[i].members == other.ranks[i].members);
    CHECK(one.ranks[i].group_of == other.ranks[i].group_of);
  }
  REQUIRE(one.groups.size() == other.groups.size());
  for (std::size_t i = 0; i < one.groups.size(); ++i) {
    check_same_group(one.groups[i], other.groups[i]);
    const auto group = [i](const Plan& plan, const Folding& folding) {
      return plan.groups[folding.groups[i].group];
    };
    CHECK(group(one_plan, one).ranks == group(other_plan, other).ranks);
    CHECK(group(one_plan, one).shape == group(other_plan, other).shape);
  }
}

void check_same_work(const Plan& one, const Plan& other) {
  CHECK(one.program_of == other.program_of);
  REQUIRE(one.programs.size() == other.programs.size());
  for (std::size_t i = 0; i < one.programs.size(); ++i)
    CHECK(one.programs[i].tasks.size() == other.programs[i].tasks.size());
  CHECK(one.names == other.names);
  CHECK(one.chains.size() == other.chains.size());
  REQUIRE(one.operations.size() == other.operations.size());
  for (std::size_t i = 0; i < one.operations.size(); ++i)
    CHECK(uncontended(one.operations[i].phases) == uncontended(other.operations[i].phases));
}

/// How many blocks the plan has of which one is laid out. The plan folds as one of all ranks does.
int check_blocks(const Scenario& scenario) {
  const OpGraph graph = build(scenario);
  const Plan whole = make_plan(scenario, graph);
  const Plan first = make_plan(scenario, graph, {.folds = true});
  CHECK(whole.blocks.count == 1);
  check_same_work(first, whole);
  check_same_folding(first, whole);
  CHECK(simulate(first, {.spans = false}).timeline.step_ends ==
        simulate(whole, {.spans = false}).timeline.step_ends);
  return first.blocks.count;
}

int blocks_of(const std::string& text) {
  CAPTURE(text);
  return check_blocks(parse_scenario(text, "blocks.yaml", Library{{source_folder()}}));
}

/// Sixteen nodes of four GPUs.
std::string sixteen_nodes(const std::string& network, const std::string& rest) {
  return "cluster: {name: c, gpu: a100-80, nodes: 16, gpus_per_node: 4, intra_node: nvlink3, "
         "inter_node: {bandwidth: 100 Gbit/s, latency: 5 us, " +
         network +
         "}}\nmodel: {name: m, layers: 4, hidden: 512, heads: 8, vocabulary: 1000}\n"
         "training: {global_batch: 64, sequence_length: 128, precision: bf16}\n" +
         rest;
}

}  // namespace

TEST_CASE("plans of random scenarios fold as all of their ranks do") {
  int in_blocks = 0;
  for (int seed = 0; seed < kScenarios; ++seed) {
    const RandomScenario random(static_cast<std::uint64_t>(seed), true);
    CAPTURE(seed);
    CAPTURE(random.text());
    Scenario scenario = random.scenario();
    if (seed % 4 > 0) scenario.data.reset();
    if (seed % 2 > 0) {
      scenario.cluster.nodes *= kMore;
      scenario.training.global_batch *= kMore;
    }
    if (check_blocks(scenario) > 1) ++in_blocks;
  }
  MESSAGE(in_blocks << " of " << kScenarios << " are laid out by block");
  CHECK(4 * in_blocks > kScenarios);
}

TEST_CASE("a block is the fewest data ranks on whole nodes that the groups repeat after") {
  const char* rail = "topology: rail";
  CHECK(blocks_of(sixteen_nodes(rail, "")) == 16);
  CHECK(blocks_of(sixteen_nodes(rail, "parallelism: {tensor: 2}")) == 16);
  // Tensor groups of two nodes.
  CHECK(blocks_of(sixteen_nodes(rail, "parallelism: {tensor: 8, sequence: true}")) == 8);
  // Each of four stages has four nodes.
  CHECK(blocks_of(sixteen_nodes(rail, "parallelism: {tensor: 4, pipeline: {stages: 4}}")) == 4);
  // Stages of one replica fill a node: the order of dimensions is that of ranks.
  CHECK(blocks_of(sixteen_nodes(
            rail, "parallelism: {order: tp-cp-pp-ep-dp, pipeline: {stages: 4}}")) == 16);
  // Copies of what is sharded, on two nodes each.
  CHECK(blocks_of(sixteen_nodes(rail, "parallelism: {data: {sharding: zero3, shard_degree: 8}}")) ==
        8);
}

TEST_CASE("blocks are of whole leaves and pods") {
  CHECK(blocks_of(sixteen_nodes("topology: rail, nodes_per_leaf: 2, oversubscription: 2", "")) ==
        8);
  CHECK(blocks_of(
            sixteen_nodes("topology: fat_tree, nodes_per_leaf: 4, oversubscription: 2", "")) == 4);
  CHECK(blocks_of(sixteen_nodes("topology: fat_tree, nodes_per_leaf: 2, leaves_per_pod: 4, "
                                "oversubscription: [2, 3]",
                                "")) == 2);
  // All below one leaf, or one pod.
  CHECK(blocks_of(sixteen_nodes("topology: fat_tree", "")) == 16);
  CHECK(blocks_of(sixteen_nodes("topology: fat_tree, nodes_per_leaf: 2, leaves_per_pod: 8, "
                                "oversubscription: [2, 3]",
                                "")) == 8);
  // Leaves of three nodes are cut by blocks of any size.
  CHECK(blocks_of(sixteen_nodes("topology: fat_tree, nodes_per_leaf: 3", "")) == 1);
  CHECK(blocks_of(sixteen_nodes("topology: torus, sizes: [4, 4]", "")) == 1);
}

TEST_CASE("ranks that anything but their place tells apart are all laid out") {
  const char* rail = "topology: rail";
  CHECK(blocks_of(sixteen_nodes(rail, "faults: {slow_gpus: [{ranks: [5], factor: 2}]}")) == 1);
  CHECK(blocks_of(sixteen_nodes(
            rail, "host: {garbage_collection: {pause: 1 ms, every: 4, aligned: false}}")) == 1);
  CHECK(blocks_of(sixteen_nodes(rail, "data: {sample_size: 1 MB}")) == 1);
}
