// Links and routes: which NIC a GPU uses, and what a transfer crosses in each topology.
#include "sim/cluster/network.hpp"

#include <set>

#include "sim/core/error.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

Cluster cluster_of(int nodes, int gpus, Fabric fabric) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = gpus;
  if (fabric.nics_per_node == 0) fabric.nics_per_node = gpus;
  fabric.bandwidth = 50_GBps;
  fabric.efficiency = 0.9;
  cluster.inter_node = fabric;
  return cluster;
}

std::vector<std::string> names(const Network& network, const std::vector<LinkId>& route) {
  std::vector<std::string> result;
  for (const LinkId link : route) result.push_back(network.name_of(link));
  return result;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("GPUs share the NICs of their node evenly, neighbours first") {
  for (const int nics : {1, 2, 4, 8}) {
    const Cluster cluster = cluster_of(2, 8, {.nics_per_node = nics});
    const Network network(cluster);
    for (int rank = 0; rank < 16; ++rank) {
      CHECK(network.port_of(rank).node == rank / 8);
      CHECK(network.port_of(rank).nic == rank % 8 / (8 / nics));
    }
  }
}

TEST_CASE("a rail-optimised fabric has only NICs, which carry what they reach") {
  const Cluster cluster = cluster_of(3, 2, {});
  const Network network(cluster);
  CHECK(network.links().size() == 3 * 2 * 2 * 2);
  for (LinkId link = 0; link < network.links().size(); ++link) {
    if (network.name_of(link).find("nic") != std::string::npos)
      CHECK(network.links()[link].bandwidth.bytes_per_second() == nine_digits(45e9));
  }
  CHECK(names(network, network.route(0, 3)) == Names{"node 0 nic 0 up", "node 1 nic 1 down"});
  CHECK(names(network, network.route(5, 1)) == Names{"node 2 nic 1 up", "node 0 nic 1 down"});
}

TEST_CASE("a link that changes leaves those like it as they were, and copies of its network, too") {
  const Cluster cluster = cluster_of(3, 2, {});
  Network network(cluster);
  const Network before = network;
  const LinkId storage = network.add({"storage", "storage", "node 0"}, 3_GBps);
  const LinkId nic = network.first_nic() + 1;
  network.set_bandwidth(nic, 7_GBps);
  const LinkId cores = network.add({"cores", "cores", "node 0"}, 5_GBps);
  CHECK(network.links()[nic].bandwidth == 7_GBps);
  CHECK(network.links()[storage].bandwidth == 3_GBps);
  CHECK(network.links()[cores].bandwidth == 5_GBps);
  CHECK(network.links().size() == before.links().size() + 2);
  for (LinkId link = 0; link < before.links().size(); ++link)
    CHECK((network.links()[link] == before.links()[link]) == (link != nic));
  CHECK_FALSE(network.links() == before.links());
}

TEST_CASE("inside a node each GPU has a link out and a link in") {
  const Cluster cluster = cluster_of(2, 4, {.nics_per_node = 1});
  const Network network(cluster);
  CHECK(names(network, network.route(0, 3)) == Names{"node 0 gpu 0 out", "node 0 gpu 3 in"});
  CHECK(names(network, network.route(5, 4)) == Names{"node 1 gpu 1 out", "node 1 gpu 0 in"});
  CHECK(network.route(Port{1, 0}, Port{1, 0}).empty());
}

TEST_CASE("in a fat tree only what leaves its leaf crosses the spine") {
  const Cluster cluster =
      cluster_of(4, 1, {.topology = "fat_tree", .nodes_per_leaf = 2, .oversubscription = {4}});
  const Network network(cluster);
  CHECK(names(network, network.route(0, 1)) == Names{"node 0 nic 0 up", "node 1 nic 0 down"});
  CHECK(names(network, network.route(1, 2)) ==
        Names{"node 1 nic 0 up", "leaf 0 up", "leaf 1 down", "node 2 nic 0 down"});
  CHECK(names(network, network.route(3, 0)) ==
        Names{"node 3 nic 0 up", "leaf 1 up", "leaf 0 down", "node 0 nic 0 down"});
}

TEST_CASE("a leaf's up-link carries its nodes' NICs divided by the oversubscription") {
  const Cluster cluster =
      cluster_of(6, 4, {.topology = "fat_tree", .nodes_per_leaf = 4, .oversubscription = {2}});
  const Network network(cluster);
  int leaves = 0;
  for (LinkId link = 0; link < network.links().size(); ++link) {
    if (!network.name_of(link).starts_with("leaf")) continue;
    ++leaves;
    CHECK(network.links()[link].bandwidth.bytes_per_second() == nine_digits(45e9 * 4 * 4 / 2));
  }
  CHECK(leaves == 2 * 2);  // the second leaf has two nodes
}

TEST_CASE("a fat tree of one leaf is a rail") {
  const Cluster cluster = cluster_of(4, 2, {.topology = "fat_tree"});
  const Network network(cluster);
  for (int from = 0; from < 8; ++from) {
    for (int to = 0; to < 8; ++to) CHECK(network.route(from, to).size() == (from == to ? 0 : 2));
  }
}

TEST_CASE("links are added beside the network's") {
  const Cluster cluster = cluster_of(3, 2, {});
  Network network(cluster);
  const std::size_t own = network.links().size();
  const LinkId storage = network.add({"node 1 storage", "storage", "node 1"}, 3_GBps);
  CHECK(storage == own);
  CHECK(network.links().at(storage).bandwidth == 3_GBps);
  CHECK(names(network, {storage}) == Names{"node 1 storage"});
  CHECK(names(network, network.route(0, 2)) == Names{"node 0 nic 0 up", "node 1 nic 0 down"});
}

TEST_CASE("one node alone needs no fabric") {
  Cluster cluster;
  cluster.gpus_per_node = 8;
  const Network network(cluster);
  CHECK(network.links().size() == 8 * 2);
  CHECK(network.route(0, 7).size() == 2);
}

TEST_CASE("a topology that nobody registered is the user's mistake") {
  const Cluster cluster = cluster_of(2, 1, {.topology = "moebius"});
  CHECK_THROWS_WITH_AS(Network{cluster}, doctest::Contains("moebius"), UserError);
}
