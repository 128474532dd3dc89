// A word embedding that the output head uses too: in a pipeline both end stages hold it.
//
// Each computes a part of its gradient; first and last stage add them up after the last pass (the
// embedding group of NVIDIA/Megatron-LM megatron/core/parallel_state.py). Nothing hides that
// all-reduce: p stages with m micro-batches, F and B a micro-batch, G bytes of gradients, two ranks
// of one node without latency at rate B take
//   (m + p - 1) (F + B) + G / B
// V words, padded to a multiple of 128 t, of h numbers in t tensor ranks: G = V h / t elements.
#include <fmt/format.h>

#include "sim/plan/memory/memory.hpp"
#include "sim/plan/schedule.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

std::string gpt(const std::string& parallelism, bool tied = true) {
  return fmt::format(R"(
cluster:
  {{name: c, gpu: a100-80, nodes: 1, gpus_per_node: 8,
   intra_node: {{bandwidth: 200 GB/s, efficiency: 0.8, latency: 0 us}}}}
model: {{name: m, layers: 8, hidden: 256, heads: 8, vocabulary: 5000, tied_embeddings: {}}}
training:
  {{global_batch: 16, sequence_length: 128, precision: fp16, optimizer: sgd,
   gradient_clipping: false}}
parallelism: {{{}}}
host: {{launch: 0 us}}
run: {{steps: 1, warmup: 0}}
)",
                     tied, parallelism);
}

Experiment split(const std::string& parallelism, bool tied = true) {
  return Experiment(parse_scenario(gpt(parallelism, tied), "test.yaml", Library{{source_folder()}},
                                   {}, {known_schedules(), {}, {}}));
}

std::vector<int> embedding_group(const Plan& plan, int rank) {
  const int group =
      plan.group_of[static_cast<std::size_t>(rank)][static_cast<std::size_t>(Channel::embedding)];
  return group < 0 ? std::vector<int>{} : plan.groups[static_cast<std::size_t>(group)].ranks;
}

bool has_embedding_group(const Plan& plan) {
  for (const Group& group : plan.groups) {
    if (group.channel == Channel::embedding) return true;
  }
  return false;
}

double parameters(const Experiment& e, int stage) {
  return stage_parameters(e.scenario, e.graph, stage).total();
}

using Ranks = std::vector<int>;

}  // namespace

TEST_CASE("first and last stage are a group, those between belong to none") {
  const Experiment e = split("tensor: 2, pipeline: {stages: 4}");
  CHECK(embedding_group(e.plan, 1) == Ranks{1, 7});
  CHECK(embedding_group(e.plan, 7) == Ranks{1, 7});
  CHECK(embedding_group(e.plan, 2).empty());
  CHECK(!has_embedding_group(split("tensor: 2, pipeline: {stages: 4}", false).plan));
  CHECK(!has_embedding_group(split("tensor: 2").plan));
}

TEST_CASE("they sum the gradients of all words, padded, once a step") {
  for (const int t : {1, 2}) {
    const Experiment e = split(fmt::format("tensor: {}, pipeline: {{stages: 4}}", t));
    for (const int rank : {0, 3 * 2}) {
      std::vector<double> bytes;
      for (const Task& task : e.plan.program(rank).tasks) {
        if (task.kind == TaskKind::communicate && task.channel == Channel::embedding)
          bytes.push_back(e.plan.operations[task.work].bytes.bytes());
      }
      const double words = t == 1 ? 5000 : 5120;
      CHECK(bytes == std::vector<double>{words / t * 256 * 2});
    }
  }
}

TEST_CASE("the all-reduce comes after the last pass, and nothing hides it") {
  constexpr double G = 30e6, F = 1e-3, B = 2e-3;
  for (const int p : {2, 4, 8}) {
    for (const char* schedule : {"1f1b", "gpipe"}) {
      CAPTURE(p);
      CAPTURE(schedule);
      Scenario scenario =
          on_paper(gpt(fmt::format("pipeline: {{stages: {}, schedule: {}}}", p, schedule), false));
      OpGraph graph = paper_graph(paper_layer(Seconds{F * p / 8}, Seconds{B * p / 8}), 8);
      graph.tied_elements = G / 2;
      const double m = scenario.micro_batches();
      const Experiment e(std::move(scenario), std::move(graph));
      CHECK(e.step_seconds() == nine_digits((m + p - 1) * (F + B) + G / (0.8 * 200e9)));
    }
  }
}

TEST_CASE("a stage that holds both ends of the model has the words once and asks nobody") {
  const double words = 5000.0 * 256;
  const double layers = parameters(split("pipeline: {stages: 4}"), 1) / 2;
  const double norm = 2 * 256;
  SUBCASE("ends on two stages hold them twice") {
    const Experiment e = split("pipeline: {stages: 4, schedule: interleaved, chunks: 2}");
    CHECK(has_embedding_group(e.plan));
    CHECK(parameters(e, 0) == nine_digits(2 * layers + words));
    CHECK(parameters(e, 3) == nine_digits(2 * layers + words + norm));
  }
  SUBCASE("in a V they meet") {
    const Experiment e =
        split("pipeline: {stages: 4, schedule: zb-v, chunks: 2, overlap_p2p: true}");
    CHECK(!has_embedding_group(e.plan));
    CHECK(parameters(e, 0) == nine_digits(2 * layers + words + norm));
    CHECK(parameters(e, 3) == nine_digits(2 * layers));
  }
  SUBCASE("two copies of the model have both ends on both end stages") {
    const Experiment e =
        split("pipeline: {stages: 4, schedule: dualpipe, chunks: 2, overlap_p2p: true}");
    CHECK(!has_embedding_group(e.plan));
    CHECK(parameters(e, 0) == nine_digits(parameters(e, 3)));
  }
}
