// The order of ranks decides which groups share a node.
//
// Four nodes of four GPUs, a NIC for each (alpha, B in a node; a, C between), tensor 4 x data 4.
// With tp first a tensor group is a node and a data group has one rank of each; with dp first it
// is the other way round. A ring all-reduce of S bytes among four ranks takes
//   in a node:      6 alpha + 3/2 S / B
//   between nodes:  6 a + 3/2 S / C
// A layer that all-reduces T bytes in its tensor group forward, and whose gradients are G bytes in
// one bucket after it, takes the one for T and the other for G.
#include "sim/scenario/rank_order.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double alpha = 3e-6, B = 0.8 * 200e9;  // inside a node
constexpr double a = 10e-6, C = 0.9 * 25e9;      // between nodes

std::string four_nodes(const std::string& model, const std::string& parallelism) {
  return fmt::format(R"(
cluster:
  {{name: c, gpu: a100-80, nodes: 4, gpus_per_node: 4,
   intra_node: {{bandwidth: 200 GB/s, efficiency: 0.8, latency: 3 us}},
   inter_node: {{bandwidth: 25 GB/s, efficiency: 0.9, latency: 10 us}}}}
model: {{name: m, layers: 4, hidden: 256, heads: 8, vocabulary: 4096{}}}
training:
  {{global_batch: 16, micro_batch: 4, sequence_length: 128, precision: fp16, optimizer: sgd,
   attention: flash2, gradient_clipping: false}}
parallelism: {{{}}}
collectives: {{all_reduce: ring}}
host: {{launch: 0 us}}
run: {{steps: 1, warmup: 0}}
)",
                     model, parallelism);
}

constexpr double T = 8e6, G = 20e6;  // bytes

/// A layer with one tensor-parallel all-reduce forward, and gradients.
OpGraph one_layer() {
  Op op;
  op.name = "op";
  op.forward = {lasting(1_ms), StartCollective{CollectiveOp::all_reduce, Bytes{T}, Axis::tensor},
                Join{}};
  op.backward = {lasting(2_ms), GradientReady{G / 2}};
  op.parameters = {G / 2};
  Block block{.name = "layer", .dag = {}, .input = Bytes{0}, .recomputable = true};
  block.dag.add(std::move(op), {});
  return paper_graph(std::move(block), 1);
}

double step_of(const std::string& order) {
  const std::string split = fmt::format("order: {}, tensor: 4, data: {{bucket: 1 GB}}", order);
  return Experiment(on_paper(four_nodes("", split)), one_layer()).step_seconds();
}

const Group& group_of(const Plan& plan, int rank, Channel channel) {
  const int group =
      plan.group_of[static_cast<std::size_t>(rank)][static_cast<std::size_t>(channel)];
  REQUIRE(group >= 0);
  return plan.groups[static_cast<std::size_t>(group)];
}

using Ranks = std::vector<int>;
constexpr const char* kExperts = ", experts: {count: 8, top_k: 2, ffn: 256}";

}  // namespace

TEST_CASE("what is split first stays inside nodes, what is split last goes between them") {
  const double in_node = 6 * alpha + 1.5 * T / B, between = 6 * a + 1.5 * T / C;
  const double tensor_first = 3e-3 + in_node + 6 * a + 1.5 * G / C;
  const double data_first = 3e-3 + between + 6 * alpha + 1.5 * G / B;
  for (const char* order : {"tp-cp-ep-dp-pp", "tp-dp", "pp-tp-dp", "tp-pp-dp-cp-ep"})
    CHECK(step_of(order) == nine_digits(tensor_first));
  for (const char* order : {"dp-tp", "dp-pp-tp", "ep-dp-cp-tp-pp"})
    CHECK(step_of(order) == nine_digits(data_first));
}

TEST_CASE("every order numbers the ranks once, and back") {
  Scenario scenario =
      scenario_of(four_nodes("", "tensor: 2, context: {degree: 2}, pipeline: {stages: 2}"));
  auto& order = scenario.parallelism.order.axes;
  std::sort(order.begin(), order.end());
  int orders = 0;
  do {
    const RankOrdering ordering(scenario);
    for (int rank = 0; rank < 16; ++rank) CHECK(ordering.rank_at(ordering.place_of(rank)) == rank);
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(orders == 120);
}

TEST_CASE("with pp before dp the stages of a replica are neighbours") {
  const Experiment e(four_nodes("", "order: tp-cp-ep-pp-dp, tensor: 2, pipeline: {stages: 4}"));
  CHECK(group_of(e.plan, 0, channel_along(Axis::tensor)).ranks == Ranks{0, 1});
  CHECK(group_of(e.plan, 0, Channel::data).ranks == Ranks{0, 8});
  CHECK(group_of(e.plan, 0, Channel::send_forward).ranks == Ranks{0, 2});
  CHECK(group_of(e.plan, 2, Channel::send_forward).ranks == Ranks{2, 4});
  CHECK(e.plan.program(3).stage == 1);
  CHECK(e.plan.program(8).stage == 0);
}

TEST_CASE("experts are dealt to neighbours, over contexts first, where ep comes before dp") {
  const auto expert_groups = [](const std::string& order) {
    const Experiment e(four_nodes(kExperts, "order: " + order +
                                                ", context: {degree: 2}, expert: {degree: 4}, "
                                                "pipeline: {stages: 2}"));
    return std::pair{group_of(e.plan, 0, channel_along(Axis::expert)).ranks,
                     group_of(e.plan, 0, Channel::expert_data).ranks};
  };
  CHECK(expert_groups("tp-cp-ep-dp-pp") == std::pair{Ranks{0, 1, 2, 3}, Ranks{0, 4}});
  CHECK(expert_groups("tp-cp-dp-ep-pp") == std::pair{Ranks{0, 2, 4, 6}, Ranks{0, 1}});
  // Stages lie between the data ranks: 0 and 1 are contexts of the first, 4 and 5 of the second.
  CHECK(expert_groups("tp-cp-ep-pp-dp") == std::pair{Ranks{0, 1, 4, 5}, Ranks{0, 8}});
}

TEST_CASE("a group that is not contiguous in its dimension still goes once through each node") {
  // dp before cp: the eight holders of a parameter are the ranks of two nodes.
  const Experiment e(four_nodes("", "order: dp-cp-tp-pp, tensor: 2, context: {degree: 2}"));
  const Group& data = group_of(e.plan, 0, Channel::data);
  CHECK(data.ranks == Ranks{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(data.shape == GroupShape{8, 2, 4});
  CHECK(group_of(e.plan, 0, channel_along(Axis::tensor)).ranks == Ranks{0, 8});
  CHECK(group_of(e.plan, 0, channel_along(Axis::context)).ranks == Ranks{0, 4});
}
