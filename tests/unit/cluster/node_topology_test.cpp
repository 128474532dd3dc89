// Nodes: what lies between two of their GPUs, and the rings over them.
#include <map>
#include <numeric>

#include "sim/cluster/network.hpp"
#include "sim/core/error.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

using Names = std::vector<std::string>;

/// Two nodes whose links inside carry 120 GB/s a GPU.
Cluster cluster_of(int gpus, NodeLayout layout, int nics = 4) {
  Cluster cluster;
  cluster.nodes = 2;
  cluster.gpus_per_node = gpus;
  cluster.intra_node = {.name = "link", .bandwidth = 150_GBps, .efficiency = 0.8};
  cluster.node_topology = std::move(layout);
  cluster.inter_node = Fabric{.nics_per_node = nics, .bandwidth = 25_GBps};
  return cluster;
}

Names names(const Network& network, const std::vector<LinkId>& route) {
  Names result;
  for (const LinkId link : route) result.push_back(network.name_of(link));
  return result;
}

std::map<std::string, double> capacities(const Network& network) {
  std::map<std::string, double> result;
  for (LinkId link = 0; link < network.links().size(); ++link)
    result[network.name_of(link)] = network.links()[link].bandwidth.bytes_per_second() / 1e9;
  return result;
}

/// Gbytes per second on each link when all rings together move as fast as their links allow.
std::map<std::string, double> ring_loads(const Network& network, const std::vector<Ring>& rings,
                                         double rate) {
  std::map<std::string, double> loads;
  for (const Ring& ring : rings) {
    for (std::size_t i = 0; i < ring.gpus.size(); ++i) {
      for (const LinkId link : network.inside(ring.gpus[i], ring.gpus[(i + 1) % ring.gpus.size()]))
        loads[network.name_of(link)] += ring.share * rate;
    }
  }
  return loads;
}

NodeLayout drawn(std::vector<std::string> switches, std::vector<GraphLink> links) {
  return {.kind = "custom", .switches = std::move(switches), .links = std::move(links)};
}

}  // namespace

TEST_CASE("every kind of node has names of its own for its links") {
  for (const char* kind : {"nvswitch", "full_mesh", "hybrid_cube_mesh", "pcie"}) {
    CAPTURE(kind);
    const Cluster cluster = cluster_of(8, {.kind = kind});
    const Network network(cluster);
    CHECK(capacities(network).size() == network.links().size());
  }
}

TEST_CASE("two GPUs of a full mesh have one of its links, and rings over all have them all") {
  const Cluster cluster = cluster_of(8, {.kind = "full_mesh"});
  const Network network(cluster);
  const double payload = gpu_payload(cluster).bytes_per_second() / 1e9;
  const auto links = capacities(network);
  double of_first = 0;
  for (const auto& [name, width] : links) {
    if (!name.starts_with("node 0 gpu 0 to gpu ")) continue;
    CHECK(width == doctest::Approx(payload / 7));
    of_first += width;
  }
  CHECK(of_first == doctest::Approx(payload));
  CHECK(names(network, network.inside(2, 5)) == Names{"node 0 gpu 2 to gpu 5"});
  // No link carries more than it can, and a GPU sends on what closed rings leave of its seven.
  std::vector<int> all(8);
  std::iota(all.begin(), all.end(), 0);
  const std::vector<Ring> rings = network.rings(all);
  CHECK(rings.size() >= 4);
  for (const auto& [name, load] :
       ring_loads(network, rings, payload / 7 * static_cast<double>(rings.size())))
    CHECK(load <= payload / 7 * (1 + 1e-9));
}

TEST_CASE("each GPU of a hybrid cube mesh has six links of a sixth of its bandwidth") {
  const Cluster cluster = cluster_of(8, {.kind = "hybrid_cube_mesh"});
  const Network network(cluster);
  std::map<std::string, double> out_of;
  for (const auto& [name, capacity] : capacities(network)) {
    if (name.starts_with("node 0 gpu ") && name.find("to gpu") != std::string::npos)
      out_of[name.substr(0, 12)] += capacity;
  }
  CHECK(out_of.size() == 8);
  for (const auto& [gpu, sum] : out_of) CHECK(sum == nine_digits(120));
  CHECK(capacities(network).at("node 0 gpu 0 to gpu 1") == nine_digits(20));
  CHECK(capacities(network).at("node 1 gpu 7 to gpu 4") == nine_digits(40));
}

TEST_CASE("GPUs of a hybrid cube mesh without a link pass through a third") {
  const Cluster cluster = cluster_of(8, {.kind = "hybrid_cube_mesh"});
  const Network network(cluster);
  CHECK(names(network, network.inside(0, 3)) == Names{"node 0 gpu 0 to gpu 3"});
  CHECK(names(network, network.inside(8 + 3, 8 + 6)) ==
        Names{"node 1 gpu 3 to gpu 2", "node 1 gpu 2 to gpu 6"});
  for (int from = 0; from < 8; ++from) {
    for (int to = 0; to < 8; ++to) CHECK(network.inside(from, to).size() <= 2);
  }
}

TEST_CASE("rings over a hybrid cube mesh fill all of its NVLinks, in both directions") {
  // A cycle of the eight double links and one of the eight single ones: three rings of one link's
  // width each way, which is what NCCL finds. All six links of a GPU carry their 20 GB/s.
  const Cluster cluster = cluster_of(8, {.kind = "hybrid_cube_mesh"});
  const Network network(cluster);
  const auto rings = network.rings({8, 9, 10, 11, 12, 13, 14, 15});
  REQUIRE(rings.size() == 4);
  CHECK(rings[0].share == nine_digits(1.0 / 3));
  CHECK(rings[3].share == nine_digits(1.0 / 6));
  const auto capacity = capacities(network);
  const auto loads = ring_loads(network, rings, 120);
  CHECK(loads.size() == 2 * 16);
  for (const auto& [name, load] : loads) CHECK(load == nine_digits(capacity.at(name)));
}

TEST_CASE("a quad closes two rings each way, and two GPUs use the links between them") {
  const Cluster cluster = cluster_of(8, {.kind = "hybrid_cube_mesh"});
  const Network network(cluster);
  const auto quad = network.rings({0, 1, 2, 3});
  REQUIRE(quad.size() == 4);
  for (const Ring& ring : quad) CHECK(ring.share == nine_digits(0.25));
  const auto pair = network.rings({4, 7});
  REQUIRE(pair.size() == 1);
  CHECK(pair[0].share == 1);
  CHECK(ring_loads(network, pair, 40).at("node 0 gpu 7 to gpu 4") == nine_digits(40));
}

TEST_CASE("GPUs that close no ring of links go on to the nearest") {
  const Cluster cluster = cluster_of(8, {.kind = "hybrid_cube_mesh"});
  const auto rings = Network(cluster).rings({0, 3, 5});
  REQUIRE(rings.size() == 1);
  CHECK(rings[0].gpus == std::vector{0, 3, 5});
}

TEST_CASE(
    "GPUs of a PCIe node meet at the switch, at the CPU, or cross from one CPU to the other") {
  const Cluster cluster = cluster_of(8, {.kind = "pcie", .socket_bandwidth = 20_GBps});
  const Network network(cluster);
  CHECK(names(network, network.inside(0, 1)) ==
        Names{"node 0 gpu 0 to switch 0", "node 0 switch 0 to gpu 1"});
  CHECK(names(network, network.inside(0, 2)) ==
        Names{"node 0 gpu 0 to switch 0", "node 0 switch 0 to cpu 0", "node 0 cpu 0 to switch 1",
              "node 0 switch 1 to gpu 2"});
  CHECK(names(network, network.inside(8 + 7, 8 + 1)) ==
        Names{"node 1 gpu 7 to switch 3", "node 1 switch 3 to cpu 1", "node 1 cpu 1 to cpu 0",
              "node 1 cpu 0 to switch 0", "node 1 switch 0 to gpu 1"});
  CHECK(capacities(network).at("node 0 gpu 0 to switch 0") == nine_digits(120));
  CHECK(capacities(network).at("node 0 cpu 0 to cpu 1") == nine_digits(20));
}

TEST_CASE("a PCIe GPU and its NIC share a switch, and the way to another node crosses it") {
  const Cluster cluster = cluster_of(8, {.kind = "pcie"});
  const Network network(cluster);
  CHECK(names(network, network.to_nic(5)) ==
        Names{"node 0 gpu 5 to switch 2", "node 0 switch 2 to nic 2"});
  CHECK(names(network, network.from_nic(8)) ==
        Names{"node 1 nic 0 to switch 0", "node 1 switch 0 to gpu 0"});
  CHECK(names(network, network.route(5, 8)) ==
        Names{"node 0 gpu 5 to switch 2", "node 0 switch 2 to nic 2", "node 0 nic 2 up",
              "node 1 nic 0 down", "node 1 nic 0 to switch 0", "node 1 switch 0 to gpu 0"});
  const Cluster one_nic = cluster_of(8, {.kind = "pcie"}, 1);
  CHECK(Network(one_nic).to_nic(7).size() == 5);
}

TEST_CASE("a GPU alone below its switch hangs on the CPU") {
  const Cluster cluster = cluster_of(4, {.kind = "pcie", .gpus_per_switch = 1, .sockets = 1});
  CHECK(Network(cluster).inside(0, 3).size() == 2);
}

TEST_CASE("a ring over a PCIe node crosses every link once") {
  const Cluster cluster = cluster_of(8, {.kind = "pcie"});
  const Network network(cluster);
  const auto rings = network.rings({0, 1, 2, 3, 4, 5, 6, 7});
  REQUIRE(rings.size() == 1);
  for (const auto& each : ring_loads(network, rings, 1)) {
    CAPTURE(each.first);
    CHECK(each.second == 1);
  }
}

TEST_CASE("on an NVSwitch nothing lies between a GPU and its NIC") {
  const Cluster cluster = cluster_of(8, {});
  const Network network(cluster);
  CHECK(network.to_nic(3).empty());
  CHECK(names(network, network.route(3, 12)) == Names{"node 0 nic 1 up", "node 1 nic 2 down"});
  CHECK(network.rings({1, 2, 5}).front().gpus == std::vector{1, 2, 5});
}

TEST_CASE("a drawn full mesh closes as many rings as its GPUs have pairs of links") {
  // Five GPUs, four links each: two cycles.
  const Cluster cluster = cluster_of(5, drawn({}, {{"gpu 0..4", "gpu 0..4", 50_GBps, {}}}), 1);
  const Network network(cluster);
  CHECK(network.inside(0, 4).size() == 1);
  CHECK(network.rings({0, 1, 2, 3, 4}).size() == 4);
}

TEST_CASE("a drawn node may be asymmetric, and its GPUs do not forward to a NIC") {
  const Cluster cluster = cluster_of(2,
                                     drawn({"switch"}, {{"gpu 0", "gpu 1", 100_GBps, 50_GBps},
                                                        {"gpu 0..1", "switch", 10_GBps, {}},
                                                        {"nic 0", "switch", 10_GBps, {}}}),
                                     1);
  const Network network(cluster);
  CHECK(capacities(network).at("node 0 gpu 0 to gpu 1") == nine_digits(100));
  CHECK(capacities(network).at("node 0 gpu 1 to gpu 0") == nine_digits(50));
  CHECK(names(network, network.to_nic(1)) ==
        Names{"node 0 gpu 1 to switch", "node 0 switch to nic 0"});
}

TEST_CASE("a drawn node whose GPUs cannot reach each other is refused") {
  const Cluster cluster = cluster_of(4, drawn({}, {{"gpu 0", "gpu 1", 50_GBps, {}}}), 1);
  CHECK_THROWS_WITH_AS(Network{cluster}, doctest::Contains("no link joins gpu 2..3"), UserError);
}
