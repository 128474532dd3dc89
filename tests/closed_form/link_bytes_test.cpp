// Bytes on every link of a group's collectives, against what the algorithms derive.
//
// n ranks on N nodes, k on each, q NICs of a node in use; S as in nccl-tests. Over a whole ring
// all-reduce each rank sends 2(n-1)/n S, of which each NIC has 1/q of the node's share at the
// node's end and 1 - 1/k stays inside; a scatter or gather half of it. An all-to-all sends S/n from
// every rank to every other: k (N-1)/N S / q leave through each NIC and as much come in, and
// (k-1)/n S stay in the node. Links that a pattern does not name carry nothing.
#include <map>

#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

std::string cluster(int nodes, int gpus, int nics, const std::string& fabric = "") {
  return fmt::format(
      "cluster: {{name: c, gpu: a100-80, nodes: {}, gpus_per_node: {}, "
      "intra_node: {{bandwidth: 200 GB/s, latency: 0 us}}, "
      "inter_node: {{nics_per_node: {}, bandwidth: 25 GB/s, latency: 0 us{}}}}}\n",
      nodes, gpus, nics, fabric);
}

/// Bytes on each link, by its name.
std::map<std::string, double> bytes_on_links(const Plan& plan, const Group& group,
                                             const Phases& phases) {
  std::map<std::string, double> bytes;
  for (const Phase& phase : phases) {
    for (const PhaseFlow& flow : phase.flows) {
      for (const Stream& stream : group.streams[static_cast<std::size_t>(flow.pattern)]) {
        for (const LinkId link : stream.links)
          bytes[plan.network.name_of(link)] += flow.bytes.bytes() * stream.share;
      }
    }
  }
  return bytes;
}

/// The bytes on each link in a collective of all ranks.
std::map<std::string, double> of_all_ranks(const std::string& on, const std::string& split,
                                           Channel channel, CollectiveOp op, double bytes,
                                           const std::string& algorithm) {
  const Experiment e(on + split);
  const int index = e.plan.group_of[0][static_cast<std::size_t>(channel)];
  REQUIRE(index >= 0);
  const Group& group = e.plan.groups[static_cast<std::size_t>(index)];
  REQUIRE(static_cast<int>(group.ranks.size()) == e.scenario.cluster.gpus());
  return bytes_on_links(
      e.plan, group,
      collective({op, Bytes{bytes}}, group.shape, e.scenario.cluster, stated(op, algorithm)));
}

std::string data_parallel(int ranks) {
  return fmt::format(
      "model: {{name: m, kind: mlp, layers: 1, width: 64}}\n"
      "training: {{global_batch: {}}}\n",
      ranks);
}

std::string experts(int ranks) {
  return fmt::format(
      "model: {{name: m, layers: 1, hidden: 64, heads: 4, vocabulary: 64, "
      "experts: {{count: {0}, top_k: 1, ffn: 64}}}}\n"
      "training: {{sequence_length: 16, global_batch: {0}}}\n"
      "parallelism: {{expert: {{degree: {0}}}}}\n",
      ranks);
}

constexpr double S = 96e6;

}  // namespace

TEST_CASE("a ring carries 2(n-1)/n of the message over each NIC's share and each GPU's link") {
  for (const auto& each : {std::tuple{2, 8, 8}, {3, 4, 2}, {4, 1, 1}, {5, 6, 3}}) {
    const auto [nodes, per_node, q] = each;
    const int N = nodes, k = per_node;
    CAPTURE(N);
    CAPTURE(k);
    const double n = N * k, carried = 2 * (n - 1) / n * S;
    const auto bytes = of_all_ranks(cluster(N, k, q), data_parallel(N * k), Channel::data,
                                    CollectiveOp::all_reduce, S, "ring");
    CHECK(bytes.size() == static_cast<std::size_t>(2 * N * q + (k > 1 ? 2 * N * k : 0)));
    for (const auto& [name, carried_bytes] : bytes) {
      const std::string& link = name;
      const double carries = carried_bytes;
      CAPTURE(link);
      const bool nic = link.find("nic") != std::string::npos;
      CHECK(carries == nine_digits(nic ? carried / q : carried * (1 - 1.0 / k)));
    }
  }
}

TEST_CASE("an all-to-all carries what its ranks have for each other, and not a byte more") {
  for (const auto& each : {std::tuple{2, 8, 8}, {4, 4, 2}, {8, 2, 1}}) {
    const auto [nodes, per_node, q] = each;
    const int N = nodes, k = per_node;
    CAPTURE(N);
    CAPTURE(k);
    const double n = N * k;
    const auto bytes = of_all_ranks(cluster(N, k, q), experts(N * k), channel_along(Axis::expert),
                                    CollectiveOp::all_to_all, S, "pairwise");
    CHECK(bytes.size() == static_cast<std::size_t>(2 * N * q + 2 * N * k));
    for (const auto& [name, carried_bytes] : bytes) {
      const std::string& link = name;
      const double carries = carried_bytes;
      CAPTURE(link);
      const bool nic = link.find("nic") != std::string::npos;
      CHECK(carries == nine_digits(nic ? k * (N - 1.0) / N * S / q : (k - 1) / n * S));
    }
  }
}

TEST_CASE("over a leaf's up-link goes what its nodes have for the others") {
  // Eight nodes of two GPUs, four below each leaf: of an all-to-all half of what a node sends is
  // for the other leaf, 4 nodes x 2 ranks x S/2; of a ring only the last node of a leaf sends up.
  const std::string fabric = ", topology: fat_tree, nodes_per_leaf: 4";
  const auto pairs =
      of_all_ranks(cluster(8, 2, 2, fabric), experts(16), channel_along(Axis::expert),
                   CollectiveOp::all_to_all, S, "pairwise");
  const auto ring = of_all_ranks(cluster(8, 2, 2, fabric), data_parallel(16), Channel::data,
                                 CollectiveOp::all_gather, S, "ring");
  for (const char* link : {"leaf 0 up", "leaf 1 up", "leaf 0 down", "leaf 1 down"}) {
    CHECK(pairs.at(link) == nine_digits(4 * 2 * S / 2));
    CHECK(ring.at(link) == nine_digits(15.0 / 16 * S));
  }
}

TEST_CASE("over a pod's up-links goes what its nodes have for other pods") {
  // 128 nodes of one GPU, eight a leaf, four leaves a pod: of what a node sends 120/128 leave the
  // leaf, 96/128 the pod. Each level of an all-to-all is one stream.
  const auto bytes = of_all_ranks(
      cluster(
          128, 1, 1,
          ", topology: fat_tree, nodes_per_leaf: 8, leaves_per_pod: 4, oversubscription: [1, 1]"),
      experts(128), channel_along(Axis::expert), CollectiveOp::all_to_all, S, "pairwise");
  CHECK(bytes.size() == 128 * 2 + 16 * 2 + 4 * 2);
  CHECK(bytes.at("node 77 nic 0 up") == nine_digits(127 / 128.0 * S));
  CHECK(bytes.at("leaf 5 up") == nine_digits(8 * 120 / 128.0 * S));
  CHECK(bytes.at("leaf 15 down") == nine_digits(8 * 120 / 128.0 * S));
  CHECK(bytes.at("pod 2 up") == nine_digits(32 * 96 / 128.0 * S));
}

TEST_CASE("beyond 64 nodes an all-to-all is made of 64 distances that carry the same in all") {
  const int N = 130;
  const auto bytes = of_all_ranks(cluster(N, 1, 1), experts(N), channel_along(Axis::expert),
                                  CollectiveOp::all_to_all, S, "pairwise");
  for (const auto& [link, carries] : bytes) CHECK(carries == nine_digits((N - 1.0) / N * S));
}
