// Hybrid sharding: S of n data ranks share one copy, which n/S = R groups of them hold (PyTorch's
// HYBRID_SHARD, MiCS: Zhang et al. 2022, arXiv 2205.00119, section 3).
//
// A step of one micro-batch with Psi bytes of parameters and of gradients hands to collectives
//   ZeRO 1, 2   reduce-scatter Psi and all-gather Psi among S, all-reduce Psi/S among R
//   ZeRO 3      a second gather, for backward
// and keeps what ZeRO would on S ranks. Two nodes of four GPUs, a NIC for each (alpha, B in a node;
// a, C between), S = 4: reduce-scatter and gather stay inside nodes, each 3 alpha + 3/4 Psi / B;
// the all-reduce goes between two ranks of two nodes, 2 a + Psi/4 / C.
#include <algorithm>

#include <fmt/format.h>

#include "sim/plan/memory/memory.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double alpha = 3e-6, B = 0.8 * 200e9;  // inside a node
constexpr double a = 10e-6, C = 0.9 * 25e9;      // between nodes
constexpr double Psi = 40e6;                     // bytes, 16-bit

std::string on_nodes(int nodes, const std::string& model, const std::string& parallelism) {
  return fmt::format(R"(
cluster:
  {{name: c, gpu: a100-80, nodes: {0}, gpus_per_node: 4,
   intra_node: {{bandwidth: 200 GB/s, efficiency: 0.8, latency: 3 us}},
   inter_node: {{bandwidth: 25 GB/s, efficiency: 0.9, latency: 10 us}}}}
model: {{name: m, layers: 1, hidden: 256, heads: 8, vocabulary: 4096{1}}}
training:
  {{global_batch: {2}, sequence_length: 128, precision: fp16, optimizer: sgd, attention: flash2,
   gradient_clipping: false}}
parallelism: {{{3}}}
collectives: {{all_reduce: ring, all_gather: ring, reduce_scatter: ring}}
host: {{launch: 0 us}}
run: {{steps: 1, warmup: 0}}
)",
                     nodes, model, 4 * nodes, parallelism);
}

Experiment one_layer(const std::string& data) {
  const std::string split = "data: {bucket: 1 GB, " + data + "}";
  return Experiment(on_paper(on_nodes(2, "", split)),
                    paper_graph(paper_layer(1_ms, 2_ms, Psi / 2), 1));
}

/// What rank 0 hands to the collectives of that channel.
double payload(const Plan& plan, Channel channel) {
  double sum = 0;
  for (const Task& task : plan.program(0).tasks) {
    if (task.kind == TaskKind::communicate && task.channel == channel)
      sum += plan.operations[task.work].bytes.bytes();
  }
  return sum;
}

const std::vector<int>& members(const Plan& plan, int rank, Channel channel) {
  const int group =
      plan.group_of[static_cast<std::size_t>(rank)][static_cast<std::size_t>(channel)];
  static const std::vector<int> alone;
  return group < 0 ? alone : plan.groups[static_cast<std::size_t>(group)].ranks;
}

using Ranks = std::vector<int>;

}  // namespace

TEST_CASE("gathers and scatters move everything in the shard group, the all-reduce a shard") {
  struct Row {
    const char* sharding;
    double gathers;
  };
  for (const Row& row : {Row{"zero1", 1}, {"zero2", 1}, {"zero3", 2}}) {
    for (const int S : {2, 4}) {
      for (const bool overlap : {true, false}) {
        CAPTURE(row.sharding);
        CAPTURE(S);
        CAPTURE(overlap);
        const Experiment e = one_layer(
            fmt::format("sharding: {}, shard_degree: {}, overlap: {}", row.sharding, S, overlap));
        CHECK(payload(e.plan, Channel::data) == nine_digits(Psi));
        CHECK(payload(e.plan, Channel::data_gather) == nine_digits(row.gathers * Psi));
        CHECK(payload(e.plan, Channel::data_across) == nine_digits(Psi / S));
      }
    }
  }
}

TEST_CASE("what is sharded in a node costs the node's link, what is replicated the network") {
  const double in_node = 3 * alpha + 0.75 * Psi / B, between = 2 * a + Psi / 4 / C;
  const auto step = [](const std::string& data) {
    return one_layer("shard_degree: 4, " + data).step_seconds();
  };
  for (const char* overlap : {", overlap: true", ", overlap: false"}) {
    CAPTURE(overlap);
    for (const char* sharding : {"sharding: zero1", "sharding: zero2"})
      CHECK(step(std::string(sharding) + overlap) == nine_digits(3e-3 + 2 * in_node + between));
    CHECK(step(std::string("sharding: zero3") + overlap) ==
          nine_digits(3e-3 + 3 * in_node + between));
    // PyTorch's _HYBRID_SHARD_ZERO2: what forward gathered is still there in backward.
    CHECK(step(std::string("sharding: zero3, reshard_after_forward: none") + overlap) ==
          nine_digits(3e-3 + 2 * in_node + between));
  }
}

TEST_CASE("with one shard group for all nothing is replicated") {
  for (const char* sharding : {"zero1", "zero2", "zero3"}) {
    const Experiment all = one_layer(fmt::format("sharding: {}", sharding));
    const Experiment eight = one_layer(fmt::format("sharding: {}, shard_degree: 8", sharding));
    CHECK(payload(eight.plan, Channel::data_across) == 0);
    CHECK(eight.step_seconds() == nine_digits(all.step_seconds()));
  }
}

TEST_CASE("a rank keeps what ZeRO would on the ranks of its shard group") {
  const auto state = [](const std::string& data) {
    const Experiment e(on_nodes(4, "", "data: {" + data + "}"));
    const StateBytes bytes = state_bytes(e.scenario, stage_parameters(e.scenario, e.graph, 0));
    return bytes.total() / stage_parameters(e.scenario, e.graph, 0).total();
  };
  // fp16 parameters and gradients, fp32 weights.
  for (const int S : {2, 4, 8, 16}) {
    const std::string degree = fmt::format("shard_degree: {}, ", S);
    CHECK(state(degree + "sharding: zero1") == nine_digits(4 + 4.0 / S));
    CHECK(state(degree + "sharding: zero2") == nine_digits(2 + 6.0 / S));
    CHECK(state(degree + "sharding: zero3") == nine_digits(8.0 / S));
  }
}

TEST_CASE("neighbours share a copy, over contexts and within tensor groups") {
  const auto groups = [](const std::string& model, const std::string& split) {
    const Experiment e(on_nodes(4, model, split));
    return std::pair{members(e.plan, 0, Channel::data), members(e.plan, 0, Channel::data_across)};
  };
  CHECK(groups("", "data: {sharding: zero3, shard_degree: 4}") ==
        std::pair{Ranks{0, 1, 2, 3}, Ranks{0, 4, 8, 12}});
  CHECK(groups("", "tensor: 2, data: {sharding: zero3, shard_degree: 4}") ==
        std::pair{Ranks{0, 2, 4, 6}, Ranks{0, 8}});
  CHECK(groups("", "context: {degree: 2}, data: {sharding: zero3, shard_degree: 2}") ==
        std::pair{Ranks{0, 1, 2, 3}, Ranks{0, 4, 8, 12}});
  CHECK(
      groups("",
             "order: tp-pp-dp, pipeline: {stages: 1}, data: {sharding: zero1, shard_degree: 8}") ==
      std::pair{Ranks{0, 1, 2, 3, 4, 5, 6, 7}, Ranks{0, 8}});
}

TEST_CASE("experts are sharded over those of the shard group that hold them") {
  const auto experiment = [](int experts) {
    return on_nodes(4, ", experts: {count: 8, top_k: 2, ffn: 256}",
                    fmt::format("expert: {{degree: {}}}, "
                                "data: {{sharding: zero3, shard_degree: 4, overlap: false}}",
                                experts));
  };
  const Experiment two(experiment(2));
  CHECK(members(two.plan, 0, Channel::expert_data) == Ranks{0, 2});
  CHECK(members(two.plan, 0, Channel::expert_across) == Ranks{0, 4, 8, 12});
  CHECK(payload(two.plan, Channel::expert_across) ==
        nine_digits(payload(two.plan, Channel::expert_data) / 2));
  // Each rank of the group has experts of its own: they are only all-reduced, whole.
  const Experiment four(experiment(4));
  CHECK(members(four.plan, 0, Channel::expert_data).empty());
  CHECK(members(four.plan, 0, Channel::expert_across) == Ranks{0, 4, 8, 12});
  const double experts = 2 * 2.0 * 256 * 256;  // two of them, up and down
  CHECK(payload(four.plan, Channel::expert_across) == nine_digits(2 * experts));
}
