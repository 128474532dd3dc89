// Choosing and pricing collectives: measured lines, bus factors, and who can do what.
#include "sim/plan/collective.hpp"

#include <cmath>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "sim/plan/nccl/cost.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr Protocol LL = Protocol::ll, Simple = Protocol::simple;
constexpr CollectiveOp kAll = CollectiveOp::all_reduce;

/// Eight A100 whose link was measured on two and on eight of them.
Cluster measured(int nodes = 1) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = 8;
  LinkProfile& link = cluster.intra_node;
  link = {.bandwidth = 300_GBps, .latency = 3_us};
  link.all_reduce = {{2, "ring", LL, 10_us, 10_GBps},
                     {2, "ring", LL, 20_us, 80_GBps},
                     {2, "ring", Simple, 30_us, 100_GBps},
                     {8, "ring", LL, 30_us, 40_GBps},
                     {8, "ring", Simple, 90_us, 120_GBps}};
  cluster.inter_node = Fabric{.nics_per_node = 8, .bandwidth = 25_GBps, .latency = 14_us};
  return cluster;
}

Speed ring(int ranks, Protocol protocol, Bytes bytes, CollectiveOp op = kAll) {
  return *speed_of(op, bytes, nccl::Algorithm::ring, protocol, {ranks, 1, 0}, measured(),
                   NcclVersion::v2_30);
}

/// What NCCL expects of it.
double expected(int ranks, Protocol protocol, Bytes bytes, CollectiveOp op = kAll) {
  const auto c = communicator_of({ranks, 1, 0}, measured(), NcclVersion::v2_30);
  return nccl::candidate(c, op, nccl::Algorithm::ring, protocol, bytes).time(bytes).seconds();
}

double over_expected(int ranks, Protocol protocol, Bytes bytes) {
  return ring(ranks, protocol, bytes).time(bytes).seconds() / expected(ranks, protocol, bytes);
}

Cluster two_nodes(Architecture architecture = Architecture::ampere) {
  Cluster cluster;
  cluster.gpu.architecture = architecture;
  cluster.nodes = 2;
  cluster.gpus_per_node = 8;
  cluster.intra_node = {.bandwidth = 300_GBps, .latency = 1_us};
  cluster.inter_node = Fabric{.nics_per_node = 8, .bandwidth = 25_GBps, .latency = 10_us};
  return cluster;
}

Decision choice(CollectiveOp op, const GroupShape& group, const std::string& algorithm,
                const Cluster& cluster = two_nodes()) {
  return decide({op, 1_GB}, group, cluster, stated(op, algorithm));
}

}  // namespace

TEST_CASE("bus factors are 2(n-1)/n for an all-reduce, (n-1)/n for its halves") {
  for (const int n : {2, 3, 8, 1000}) {
    CHECK(bus_factor(kAll, n) == nine_digits(2 * (n - 1.0) / n));
    CHECK(bus_factor(CollectiveOp::all_gather, n) == nine_digits((n - 1.0) / n));
    CHECK(bus_factor(CollectiveOp::reduce_scatter, n) == nine_digits((n - 1.0) / n));
    CHECK(bus_factor(CollectiveOp::all_to_all, n) == nine_digits((n - 1.0) / n));
    CHECK(bus_factor(CollectiveOp::broadcast, n) == 1);
    CHECK(bus_factor(CollectiveOp::shift, n) == 1);
  }
}

TEST_CASE("of several measured lines the least holds") {
  CHECK(ring(2, LL, 1_KiB).latency == 10_us);
  CHECK(ring(2, LL, 1_MiB).latency == 20_us);
  CHECK(ring(2, LL, 1_MiB).bandwidth == 80_GBps);
  CHECK(ring(8, Simple, 1_GiB).bandwidth == 120_GBps);
}

TEST_CASE("between measured numbers of ranks NCCL's formula is scaled, beyond by the nearest") {
  const double two = over_expected(2, Simple, 64_MiB), eight = over_expected(8, Simple, 64_MiB);
  CHECK(over_expected(4, Simple, 64_MiB) == nine_digits((two + eight) / 2));  // halfway in log2
  const double share = std::log(1.5) / std::log(4.0);
  CHECK(over_expected(3, Simple, 64_MiB) == nine_digits(two * (1 - share) + eight * share));
  CHECK(over_expected(16, Simple, 64_MiB) == nine_digits(eight));
}

TEST_CASE("a protocol that nobody measured borrows from all, an op without lines is NCCL's") {
  const Speed borrowed = ring(2, Protocol::ll128, 64_MiB);
  CHECK(borrowed.time(64_MiB).seconds() > 0);
  CHECK_FALSE(speed_of(CollectiveOp::all_gather, 1_MiB, nccl::Algorithm::ring, Simple, {8, 1, 0},
                       measured(), NcclVersion::v2_30));
}

TEST_CASE("between nodes latencies are stretched as 64 KiB in a ring of LL are, bandwidth is not") {
  const Cluster cluster = measured(2);
  const double factor = latency_factor(cluster, NcclVersion::v2_30);
  CHECK(factor == nine_digits(over_expected(8, LL, 64_KiB)));
  const GroupShape group{16, 2, 8};
  const auto c = communicator_of(group, cluster, NcclVersion::v2_30);
  const auto tree = nccl::candidate(c, kAll, nccl::Algorithm::tree, LL, 1_MiB);
  const auto speed =
      *speed_of(kAll, 1_MiB, nccl::Algorithm::tree, LL, group, cluster, NcclVersion::v2_30);
  CHECK(speed.latency.seconds() == nine_digits(tree.latency.seconds() * factor));
  CHECK(speed.bandwidth == tree.bandwidth);
}

TEST_CASE(
    "what a hop takes beyond InfiniBand's is added as it is, what the plugin reports is not") {
  const auto latency = [](Seconds hop, Seconds plugin, Protocol protocol = LL) {
    Cluster cluster = measured(2);
    cluster.inter_node->latency = hop;
    cluster.inter_node->plugin_latency = plugin;
    return speed_of(kAll, 1_KiB, nccl::Algorithm::tree, protocol, {16, 2, 8}, cluster,
                    NcclVersion::v2_30)
        ->latency.microseconds();
  };
  const auto two_hops_more = [&](Protocol protocol) {
    return latency(70_us, 0_us, protocol) - latency(14_us, 0_us, protocol);
  };
  const double factor = latency_factor(measured(2), NcclVersion::v2_30);
  CHECK(latency(14_us, 75_us) == latency(14_us, 0_us));
  CHECK(two_hops_more(LL) == nine_digits(2 * 20));  // 5 us of 14 of the 56
  CHECK(two_hops_more(Protocol::ll128) == nine_digits(2 * 56));
  CHECK(two_hops_more(Simple) == nine_digits(2 * 2 * 56));
  CHECK(latency(7_us, 0_us) == nine_digits(latency(14_us, 0_us) - factor * 2 * 2.5));
}

TEST_CASE("steps and bytes of a ring between nodes pass at the same time") {
  const Cluster cluster = measured(2);
  const GroupShape group{16, 2, 8};
  const Collectives ring_simple = [] {
    Collectives all = stated(kAll, "ring");
    all.all_reduce.protocol = Simple;
    return all;
  }();
  const auto speed = [&](Bytes bytes) {
    return *speed_of(kAll, bytes, nccl::Algorithm::ring, Simple, group, cluster,
                     NcclVersion::v2_30);
  };
  const auto time = [&](Bytes bytes) {
    return uncontended(collective({kAll, bytes}, group, cluster, ring_simple)).seconds();
  };
  // 16 channels: 256 MiB are 1 MiB for each channel and rank, half of which is stored at each step;
  // of 1 GiB, 4 MiB each, half of a chunk of 2 MiB is.
  for (const auto& [bytes, stored] : {std::pair{256_MiB, 0.5}, std::pair{1_GiB, 0.25}}) {
    CAPTURE(stored);
    const double steps = speed(bytes).latency.seconds();
    const double on_wire = (bytes / speed(bytes).bandwidth).seconds();
    const double beside = std::cbrt(std::pow(on_wire, 3) + std::pow(steps + stored * on_wire, 3));
    // The last of 2 x 15 steps has nothing beside it.
    CHECK(time(bytes) == nine_digits(beside * 29 / 30 + (steps + on_wire) / 30));
  }
}

TEST_CASE("a tree of NVLS waits at each hop for a turn of chunks over the NICs") {
  Cluster cluster = measured(4);
  cluster.gpu.architecture = Architecture::hopper;
  cluster.intra_node.bandwidth = 450_GBps;
  const GroupShape group{32, 4, 8};
  const auto speed = *speed_of(kAll, 64_MiB, nccl::Algorithm::nvls_tree, Simple, group, cluster,
                               NcclVersion::v2_30);
  const Phases phases = collective({kAll, 64_MiB}, group, cluster, stated(kAll, "nvls_tree"));
  REQUIRE(phases.size() == 1);
  // 2 log2 4 hops; 16 channels x 8 heads x 64 KiB over eight NICs of 25 GB/s.
  CHECK(phases[0].latency.seconds() == nine_digits(speed.latency.seconds() + 4 * (0x1p20 / 25e9)));
}

TEST_CASE("a link that nobody measured is alpha-beta, without NCCL's protocols") {
  const Cluster cluster = two_nodes();
  const Decision decision = choice(kAll, {8, 1, 0}, "auto");
  CHECK(decision.algorithm->name == "ring");
  CHECK(decision.protocol == Simple);
  const Phases phases = collective({kAll, 1_GB}, {8, 1, 0}, cluster, {});
  CHECK(uncontended(phases).seconds() == nine_digits(14 * (1e-6 + 1e9 / 8 / 300e9)));
}

TEST_CASE("one rank communicates with nobody") {
  CHECK(collective({kAll, 1_GB}, {1, 1, 0}, two_nodes(), {}).empty());
}

TEST_CASE("a group's phases are what its algorithm says, in order") {
  const auto phases = [&](const char* name) {
    return collective({kAll, 1_GB}, {16, 2, 8}, two_nodes(), stated(kAll, name));
  };
  CHECK(phases("ring").size() == 1);
  CHECK(phases("tree").size() == 1);
  const Phases parts = phases("hierarchical");
  REQUIRE(parts.size() == 3);
  REQUIRE(parts[1].flows.size() == 1);
  CHECK(parts[1].flows[0].pattern == Pattern::between);
  CHECK(parts[1].flows[0].bytes.bytes() == nine_digits(1e9 / 8));  // 2(N-1)/N = 1, over 8 NICs
  CHECK(uncontended({parts[2]}) == uncontended({parts[0]}));
}

TEST_CASE("a protocol that no algorithm has on these GPUs is refused with a sentence") {
  Cluster pcie = two_nodes();
  pcie.node_topology.kind = "pcie";
  Collectives ll128;
  ll128.all_reduce.protocol = Protocol::ll128;
  CHECK_THROWS_WITH_AS(
      decide({kAll, 1_GB}, {16, 2, 8}, pcie, ll128),
      "collectives.all_reduce: no algorithm has LL128 here, ring has LL128 over NVLink alone",
      UserError);
}

TEST_CASE("what can never work is refused with a sentence") {
  const auto refused = [](CollectiveOp op, const char* name, const char* why) {
    CAPTURE(name);
    CHECK_THROWS_WITH_AS(choice(op, {16, 2, 8}, name), doctest::Contains(why), UserError);
  };
  refused(kAll, "butterfly", "unknown collective algorithm 'butterfly'");
  refused(kAll, "nvls", "collectives.all_reduce: nvls needs GPUs of Hopper or later");
  refused(kAll, "collnet_chain", "needs switches that reduce: inter_node.sharp: true");
  refused(kAll, "pairwise",
          "pairwise makes no all_reduce, as collnet_chain, collnet_direct, hierarchical, nvls, ");
  refused(CollectiveOp::all_gather, "tree", "tree makes no all_gather");
  Collectives odd = stated(kAll, "nvls_tree");
  odd.all_reduce.protocol = LL;
  CHECK_THROWS_WITH_AS(decide({kAll, 1_GB}, {16, 2, 8}, two_nodes(Architecture::hopper), odd),
                       doctest::Contains("nvls_tree has the Simple protocol alone"), UserError);
  Collectives two_levels = stated(kAll, "hierarchical");
  two_levels.all_reduce.protocol = LL;
  CHECK_THROWS_WITH_AS(decide({kAll, 1_GB}, {16, 2, 8}, two_nodes(), two_levels),
                       "collectives.all_reduce: hierarchical takes no protocol", UserError);
}

TEST_CASE("a group whose shape rules the stated algorithm out is left to NCCL") {
  const Decision pat = choice(CollectiveOp::all_gather, {8, 1, 0}, "pat");
  CHECK(pat.algorithm->name == "ring");
  CHECK(pat.refusal == "needs one GPU a node, this group has 8");
  CHECK(choice(kAll, {2, 2, 1}, "hierarchical").refusal == "needs several GPUs a node");
  CHECK(choice(kAll, {16, 2, 8}, "hierarchical").refusal.empty());
  CHECK(choice(kAll, {8, 1, 0}, "tree").algorithm->name == "tree");
}

TEST_CASE("a stated protocol holds, with the algorithm that NCCL then prefers") {
  Collectives ll;
  ll.all_reduce.protocol = LL;
  const Decision decision = decide({kAll, 1_GiB}, {16, 2, 8}, measured(2), ll);
  CHECK(decision.protocol == LL);
  CHECK(decision.algorithm->nccl.has_value());
}

TEST_CASE("every algorithm costs more for more bytes, and no less than a hop") {
  Cluster cluster = two_nodes(Architecture::hopper);
  cluster.inter_node->sharp = true;
  for (const CollectiveAlgorithm* algorithm : Registry<CollectiveAlgorithm>::all()) {
    CAPTURE(std::string(algorithm->name));
    for (const auto& [name, op] : kNames<CollectiveOp>) {
      if (!algorithm->makes(op)) continue;
      const GroupShape group =
          algorithm->name == "pat" ? GroupShape{2, 2, 1} : GroupShape{16, 2, 8};
      double before = 0;
      for (double bytes = 1; bytes < 1e11; bytes *= 10) {
        const double now =
            uncontended(algorithm->phases(
                            {{op, Bytes{bytes}}, group, cluster, NcclVersion::v2_30, Simple, {}}))
                .seconds();
        CHECK(now > before);
        CHECK(now > 10e-6);
        before = now;
      }
    }
  }
}

TEST_CASE("all-to-all goes by LL up to 16 KiB to each peer, and by Simple above") {
  const auto protocol = [](Bytes bytes) {
    return decide({CollectiveOp::all_to_all, bytes}, {8, 1, 0}, two_nodes(), {}).protocol;
  };
  CHECK(protocol(128_KiB) == LL);
  CHECK(protocol(129_KiB) == Simple);
}

TEST_CASE("ranks a node are rounded up where groups do not fill their nodes") {
  CHECK(GroupShape{16, 2, 8}.ranks_per_node() == 8);
  CHECK(GroupShape{12, 2, 8}.ranks_per_node() == 6);
  CHECK(GroupShape{3, 2, 1}.ranks_per_node() == 2);
}
