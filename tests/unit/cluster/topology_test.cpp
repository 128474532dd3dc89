// Topologies of the fabric: what lies between two nodes, link by link, and how much it carries.
#include <map>

#include "sim/cluster/bisection.hpp"
#include "sim/cluster/link_names.hpp"
#include "sim/cluster/network.hpp"
#include "sim/core/error.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

using Names = std::vector<std::string>;

Cluster cluster_of(int nodes, Fabric fabric) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = 1;
  if (fabric.nics_per_node == 0) fabric.nics_per_node = 1;
  fabric.bandwidth = 50_GBps;
  fabric.efficiency = 0.9;
  cluster.inter_node = fabric;
  return cluster;
}

/// Names of the switch links on the way from one port to another, without the NICs at its ends.
Names between(const Network& network, Port from, Port to) {
  Names names;
  for (const LinkId link : network.route(from, to)) names.push_back(network.name_of(link));
  REQUIRE(names.size() >= 2);
  return {names.begin() + 1, names.end() - 1};
}

Names between(const Network& network, int from, int to) {
  return between(network, Port{from, 0}, Port{to, 0});
}

std::map<std::string, double> capacities(const Network& network) {
  std::map<std::string, double> result;
  for (LinkId link = 0; link < network.links().size(); ++link)
    result[network.name_of(link)] = network.links()[link].bandwidth.bytes_per_second() / 1e9;
  return result;
}

/// How often each switch link is crossed when every node sends to every other.
std::map<std::string, int> loads_of_all_pairs(const Network& network, int nodes) {
  std::map<std::string, int> loads;
  for (int from = 0; from < nodes; ++from) {
    for (int to = 0; to < nodes; ++to) {
      if (from == to) continue;
      for (const std::string& name : between(network, from, to)) ++loads[name];
    }
  }
  return loads;
}

bool all_are(const std::map<std::string, int>& loads, const std::string& part, int expected) {
  bool any = false;
  for (const auto& [name, load] : loads) {
    if (name.find(part) == std::string::npos) continue;
    any = true;
    if (load != expected) return false;
  }
  return any;
}

Fabric torus(std::vector<int> sizes) { return {.topology = "torus", .sizes = std::move(sizes)}; }

}  // namespace

TEST_CASE("every link has a name of its own") {
  const std::vector<Fabric> fabrics = {
      {.topology = "rail", .nics_per_node = 2, .nodes_per_leaf = 4},
      {.topology = "fat_tree", .nodes_per_leaf = 2, .leaves_per_pod = 2},
      {.topology = "dragonfly", .nodes_per_router = 2, .routers_per_group = 4},
      {.topology = "dragonfly", .nodes_per_router = 1, .routers_per_group = 2, .global_links = 5},
      torus({4, 2, 2}),
      {.topology = "custom",
       .switches = {"leaf 0..1", "spine"},
       .links = {{"node 0..7", "leaf 0", 50_GBps, {}},
                 {"node 8..15", "leaf 1", 50_GBps, {}},
                 {"leaf 0..1", "spine", 400_GBps, 200_GBps}}}};
  for (const Fabric& fabric : fabrics) {
    CAPTURE(fabric.topology);
    const Cluster cluster = cluster_of(16, fabric);
    Network network(cluster);
    network.add({"storage", "storage", "node 0"}, 1_GBps);
    CHECK(capacities(network).size() == network.links().size());
  }
}

TEST_CASE("a rail joins the NICs of one number in a pod, everything else goes over the spine") {
  const Cluster cluster = cluster_of(
      8, {.topology = "rail", .nics_per_node = 2, .nodes_per_leaf = 4, .oversubscription = {2}});
  const Network network(cluster);
  CHECK(between(network, {0, 1}, {3, 1}).empty());
  CHECK(between(network, {0, 0}, {3, 1}) == Names{"pod 0 rail 0 up", "pod 0 rail 1 down"});
  CHECK(between(network, {0, 1}, {4, 1}) == Names{"pod 0 rail 1 up", "pod 1 rail 1 down"});
  // Four NICs of 45 GB/s, twice oversubscribed.
  CHECK(capacities(network).at("pod 1 rail 0 up") == nine_digits(4 * 45.0 / 2));
  CHECK(network.regions(3) == std::vector{0});
  CHECK(network.regions(4) == std::vector{1});
}

TEST_CASE("a fat tree of three levels goes no higher than it must") {
  const Cluster cluster = cluster_of(16, {.topology = "fat_tree",
                                          .nodes_per_leaf = 2,
                                          .leaves_per_pod = 2,
                                          .oversubscription = {1, 4}});
  const Network network(cluster);
  CHECK(between(network, 0, 1).empty());
  CHECK(between(network, 0, 2) == Names{"leaf 0 up", "leaf 1 down"});
  CHECK(between(network, 3, 15) == Names{"leaf 1 up", "pod 0 up", "pod 3 down", "leaf 7 down"});
  // Two nodes a leaf; two such leaves a pod, oversubscribed by four.
  CHECK(capacities(network).at("leaf 5 up") == nine_digits(2 * 45.0));
  CHECK(capacities(network).at("pod 2 down") == nine_digits(2 * 2 * 45.0 / 4));
  CHECK(network.regions(15) == std::vector{7, 3});
}

TEST_CASE("one oversubscription of a three-level tree is that of its leaves") {
  const Cluster cluster = cluster_of(
      8,
      {.topology = "fat_tree", .nodes_per_leaf = 2, .leaves_per_pod = 2, .oversubscription = {3}});
  const Network network(cluster);
  CHECK(capacities(network).at("leaf 0 up") == nine_digits(30));
  CHECK(capacities(network).at("pod 0 up") == nine_digits(60));
}

TEST_CASE("a torus goes along x, then y, then z, the shorter way around") {
  const Cluster cluster = cluster_of(5 * 3 * 2, torus({5, 3, 2}));
  const Network network(cluster);
  const auto node = [](int x, int y, int z) { return x + 5 * (y + 3 * z); };
  CHECK(between(network, node(0, 0, 0), node(2, 2, 1)) ==
        Names{"torus x+ of node 0", "torus x+ of node 1", "torus y- of node 2",
              "torus z+ of node 12"});
  CHECK(between(network, node(1, 1, 1), node(4, 1, 1)) ==
        Names{"torus x- of node 21", "torus x- of node 20"});
}

TEST_CASE(
    "all pairs of a torus cross n^2/8 links of each direction of an even ring, (n^2-1)/8 of an "
    "odd") {
  // In a ring of n each node sends to n - 1 others. Odd: distances 1..(n-1)/2 each way, so a link
  // of one direction is crossed 1 + 2 + ... + (n-1)/2 = (n^2-1)/8 times. Even: up to n/2 - 1 each
  // way, and half of the nodes send n/2 far in each direction: n(n-2)/8 + n/4 = n^2/8. Of k rings
  // side by side each carries what its nodes send to those of the others, too: k times as much.
  for (const int n : {3, 4, 5, 8}) {
    const Cluster ring = cluster_of(n, torus({n}));
    const int expected = n % 2 == 0 ? n * n / 8 : (n * n - 1) / 8;
    CHECK(all_are(loads_of_all_pairs(Network(ring), n), "torus x", expected));
  }
  const Cluster cube = cluster_of(4 * 4 * 4, torus({4, 4, 4}));
  const auto loads = loads_of_all_pairs(Network(cube), 64);
  CHECK(loads.size() == 6 * 64);
  CHECK(all_are(loads, "torus", 16 * 4 * 4 / 8));
}

TEST_CASE("the diameter of a torus is the sum of its half sizes") {
  const Cluster cluster = cluster_of(4 * 4 * 8, torus({4, 4, 8}));
  const Network network(cluster);
  std::size_t longest = 0;
  for (int to = 1; to < 128; ++to) longest = std::max(longest, between(network, 0, to).size());
  CHECK(longest == 2 + 2 + 4);
}

TEST_CASE("a dragonfly takes at most a local, a global and a local link") {
  // The example of Kim et al. 2008, figure 5: p = h = 2, a = 4, nine groups, 72 terminals.
  const Cluster cluster = cluster_of(
      72,
      {.topology = "dragonfly", .nodes_per_router = 2, .routers_per_group = 4, .global_links = 2});
  const Network network(cluster);
  // 9 groups x 4 routers x 3 others, and 9 x 8 cables seen from either end; 72 NICs each way.
  CHECK(network.links().size() == 9 * 4 * 3 + 9 * 8 + 2 * 72);
  CHECK(between(network, 0, 1).empty());
  CHECK(between(network, 0, 2) == Names{"group 0 router 0 to router 1"});
  CHECK(between(network, 0, 8) == Names{"group 0 to group 1", "group 1 router 3 to router 0"});
  CHECK(between(network, 2, 8 + 6) == Names{"group 0 router 1 to router 0", "group 0 to group 1"});
  CHECK(network.regions(71).empty());
  std::map<std::size_t, int> hops;
  for (int to = 0; to < 72; ++to) {
    if (to != 0) ++hops[between(network, 0, to).size()];
  }
  // One more node is on node 0's router, six are on the three others of its group. The router's two
  // cables lead to one router each in two groups (2 x 2 nodes, and 2 x 6 one local link on); six
  // groups hang on other routers: there 2 nodes each are at the cable's end and 6 one link further.
  CHECK(hops.at(0) == 1);
  CHECK(hops.at(1) == 6 + 2 * 2);
  CHECK(hops.at(2) == 2 * 6 + 6 * 2);
  CHECK(hops.at(3) == 6 * 6);
}

TEST_CASE("all pairs of a balanced dragonfly cross each global link alike") {
  const Cluster cluster = cluster_of(
      72,
      {.topology = "dragonfly", .nodes_per_router = 2, .routers_per_group = 4, .global_links = 2});
  // Eight nodes of a group send to eight of another, over one link.
  CHECK(all_are(loads_of_all_pairs(Network(cluster), 72), "to group", 8 * 8));
}

TEST_CASE("few groups are joined by several links, which share what passes") {
  const Cluster cluster = cluster_of(16, {.topology = "dragonfly",
                                          .nodes_per_router = 2,
                                          .routers_per_group = 4,
                                          .global_links = 1,
                                          .link_bandwidth = 20_GBps,
                                          .global_bandwidth = 100_GBps});
  const Network network(cluster);
  // Two groups: every router has a link to the other group, and uses it.
  const auto loads = loads_of_all_pairs(network, 16);
  CHECK(loads.size() == 2 * 4 * 3 + 2 * 4);
  CHECK(all_are(loads, "group 0 to group 1 link", 2 * 8));
  CHECK(capacities(network).at("group 0 to group 1 link 3") == nine_digits(90));
  CHECK(capacities(network).at("group 1 router 0 to router 3") == nine_digits(18));
}

TEST_CASE("a drawn leaf-spine spreads what it carries over the spines, and has two directions") {
  const Cluster cluster = cluster_of(8, {.topology = "custom",
                                         .switches = {"leaf 0..1", "spine 0..3"},
                                         .links = {{"node 0..3", "leaf 0", 50_GBps, 25_GBps},
                                                   {"node 4..7", "leaf 1", 50_GBps, {}},
                                                   {"leaf 0..1", "spine 0..3", 100_GBps, {}}}});
  const Network network(cluster);
  CHECK(between(network, 0, 3) == Names{"node 0 to leaf 0", "leaf 0 to node 3"});
  CHECK(between(network, 0, 5) ==
        Names{"node 0 to leaf 0", "leaf 0 to spine 1", "spine 1 to leaf 1", "leaf 1 to node 5"});
  CHECK(capacities(network).at("node 1 to leaf 0") == nine_digits(45));
  CHECK(capacities(network).at("leaf 0 to node 1") == nine_digits(22.5));
  // Four nodes send to each of four others; each spine serves the destinations of its number.
  CHECK(all_are(loads_of_all_pairs(network, 8), "spine", 4));
}

TEST_CASE("single NICs may have links of their own, and nodes do not forward") {
  // Two planes: NIC 0 of all nodes on one switch, NIC 1 on the other, which is what joins them.
  const Cluster cluster = cluster_of(3, {.topology = "custom",
                                         .nics_per_node = 2,
                                         .switches = {"a", "b"},
                                         .links = {{"node 0..2 nic 0", "a", 50_GBps, {}},
                                                   {"node 0..2 nic 1", "b", 50_GBps, {}},
                                                   {"a", "b", 10_GBps, {}},
                                                   {"node 0", "node 1", 1_GBps, {}}}});
  const Network network(cluster);
  CHECK(between(network, {0, 1}, {2, 1}) == Names{"node 0 nic 1 to b", "b to node 2 nic 1"});
  CHECK(between(network, {0, 0}, {2, 1}) ==
        Names{"node 0 nic 0 to a", "a to b", "b to node 2 nic 1"});
}

TEST_CASE("of equally short ways the widest is taken") {
  const Cluster cluster = cluster_of(
      2, {.topology = "custom",
          .switches = {"narrow", "wide"},
          .links = {{"node 0..1", "narrow", 10_GBps, {}}, {"node 0..1", "wide", 20_GBps, {}}}});
  CHECK(between(Network(cluster), 0, 1) == Names{"node 0 to wide", "wide to node 1"});
}

TEST_CASE("what does not fit is refused") {
  const Cluster cluster = cluster_of(6, torus({2, 2}));
  CHECK_THROWS_WITH_AS(Network{cluster}, doctest::Contains("sizes 2 x 2 = 4 nodes"), UserError);
}

TEST_CASE("the halves of a torus are joined by two rings' worth of links along the last axis") {
  // Cut across z: each of the 4 x 4 rings along it is cut twice.
  const Cluster cluster = cluster_of(128, torus({4, 4, 8}));
  CHECK(bisection(Network(cluster)).bytes_per_second() == nine_digits(2 * 16 * 45e9));
}

TEST_CASE("the halves of a tree are joined by what its least level carries") {
  Fabric fabric{.topology = "fat_tree", .nodes_per_leaf = 2, .leaves_per_pod = 2};
  const auto of = [&](std::vector<double> factors) {
    fabric.oversubscription = std::move(factors);
    const Cluster cluster = cluster_of(16, fabric);
    return bisection(Network(cluster)).bytes_per_second();
  };
  CHECK(of({1, 1}) == nine_digits(8 * 45e9));
  CHECK(of({2, 1}) == nine_digits(8 * 45e9 / 2));
  CHECK(of({2, 3}) == nine_digits(8 * 45e9 / 6));
}

TEST_CASE("two groups of a dragonfly are joined by their global links") {
  const Cluster cluster = cluster_of(16, {.topology = "dragonfly",
                                          .nodes_per_router = 2,
                                          .routers_per_group = 4,
                                          .global_links = 1,
                                          .global_bandwidth = 70_GBps});
  CHECK(bisection(Network(cluster)).bytes_per_second() == nine_digits(4 * 0.9 * 70e9));
}

TEST_CASE("a drawn fabric that is narrow one way has that bisection") {
  const Cluster cluster = cluster_of(4, {.topology = "custom",
                                         .switches = {"a", "b"},
                                         .links = {{"node 0..1", "a", 50_GBps, {}},
                                                   {"node 2..3", "b", 50_GBps, {}},
                                                   {"a", "b", 30_GBps, 80_GBps}}});
  CHECK(bisection(Network(cluster)).bytes_per_second() == nine_digits(27e9));
}

TEST_CASE("a * in a pattern stands for any text") {
  CHECK(matches("leaf 3 up", "leaf 3 up"));
  CHECK(matches("leaf * up", "leaf 31 up"));
  CHECK(matches("*", ""));
  CHECK(matches("node * nic 1*", "node 12 nic 1 down"));
  CHECK(matches("*a*ab", "aaaab"));
  CHECK_FALSE(matches("leaf * up", "leaf 3 down"));
  CHECK_FALSE(matches("leaf 3", "leaf 31"));
  CHECK_FALSE(matches("", "leaf"));
}
