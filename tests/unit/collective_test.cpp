// Choosing and pricing collectives: measured curves, bus factors, and who can do what.
#include "sim/plan/collective.hpp"

#include <cmath>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

LinkProfile measured_link() {
  LinkProfile link;
  link.bandwidth = 100_GBps;
  link.all_reduce = {{2, 10_us, 10_GBps, 20_us, 100_GBps}, {8, 30_us, 20_GBps, 50_us, 200_GBps}};
  return link;
}

double all_reduce(double bytes, int ranks) {
  return inside_node(CollectiveOp::all_reduce, Bytes{bytes}, ranks, measured_link()).seconds();
}

Cluster two_nodes() {
  Cluster cluster;
  cluster.nodes = 2;
  cluster.gpus_per_node = 8;
  cluster.intra_node = {.bandwidth = 100_GBps, .latency = 1_us};
  cluster.inter_node = Fabric{.nics_per_node = 8, .bandwidth = 25_GBps, .latency = 10_us};
  return cluster;
}

}  // namespace

TEST_CASE("bus factors are 2(n-1)/n for an all-reduce, (n-1)/n for its halves") {
  for (const int n : {2, 3, 8, 1000}) {
    CHECK(bus_factor(CollectiveOp::all_reduce, n) == nine_digits(2 * (n - 1.0) / n));
    CHECK(bus_factor(CollectiveOp::all_gather, n) == nine_digits((n - 1.0) / n));
    CHECK(bus_factor(CollectiveOp::reduce_scatter, n) == nine_digits((n - 1.0) / n));
    CHECK(bus_factor(CollectiveOp::all_to_all, n) == nine_digits((n - 1.0) / n));
    CHECK(bus_factor(CollectiveOp::shift, n) == 1);
  }
}

TEST_CASE("a measured curve has two regimes, of which the faster holds") {
  CHECK(all_reduce(0, 2) == nine_digits(10e-6));
  CHECK(all_reduce(1e5, 2) == nine_digits(10e-6 + 10e-6));          // 1e5 / 10 GB/s < 20 + 1 us
  CHECK(all_reduce(1e9, 2) == nine_digits(10e-6 + 20e-6 + 10e-3));  // the other one
}

TEST_CASE("between measured numbers of ranks times are interpolated, beyond the nearest holds") {
  const double two = all_reduce(1e8, 2), eight = all_reduce(1e8, 8);
  CHECK(all_reduce(1e8, 4) == nine_digits(two * 0.5 + eight * 0.5));  // halfway in log2
  CHECK(all_reduce(1e8, 72) == nine_digits(eight));
  const double share = std::log(1.5) / std::log(4.0);
  CHECK(all_reduce(1e8, 3) == nine_digits(two * (1 - share) + eight * share));
  CHECK(all_reduce(1e8, 1) == 0);
}

TEST_CASE("a link without a curve for a collective is priced as a ring") {
  const Seconds gather = inside_node(CollectiveOp::all_gather, 1_GB, 4, measured_link());
  CHECK(gather.seconds() == nine_digits(0.75 * 1e9 / 100e9));
}

TEST_CASE("one rank communicates with nobody") {
  CHECK(collective({CollectiveOp::all_reduce, 1_GB}, {1, 1, 0}, two_nodes(), "auto").empty());
}

TEST_CASE("a group's phases are what its algorithm says, in order") {
  const CollectiveRequest request{CollectiveOp::all_reduce, 1_GB};
  const GroupShape group{16, 2, 8};
  const auto phases = [&](const char* name) {
    return collective(request, group, two_nodes(), name);
  };
  CHECK(phases("ring").size() == 1);
  CHECK(phases("tree").size() == 1);
  const Phases parts = phases("hierarchical");
  REQUIRE(parts.size() == 3);
  for (const Phase& part : parts) REQUIRE(part.flows.size() == 1);
  CHECK(parts[0].flows[0].pattern == Pattern::inside);
  CHECK(parts[1].flows[0].pattern == Pattern::between);
  CHECK(parts[1].flows[0].bytes.bytes() == nine_digits(1e9 / 8));  // 2(N-1)/N = 1, over 8 NICs
  CHECK(parts[2].flows[0].alone() == parts[0].flows[0].alone());
}

TEST_CASE("an algorithm that is unknown is named, one that cannot do it gives way to the ring") {
  const auto gather = [](GroupShape group, const char* name) {
    return collective({CollectiveOp::all_gather, 1_GB}, group, two_nodes(), name);
  };
  const auto time = [](const Phases& phases) { return uncontended(phases).seconds(); };
  CHECK_THROWS_WITH_AS(gather({16, 2, 8}, "butterfly"), doctest::Contains("'butterfly'"),
                       UserError);
  CHECK(time(gather({16, 2, 8}, "tree")) == time(gather({16, 2, 8}, "ring")));
  CHECK(time(gather({2, 2, 1}, "hierarchical")) == time(gather({2, 2, 1}, "ring")));
}

TEST_CASE("every algorithm costs more for more bytes, and nothing less than its latency") {
  const Cluster cluster = two_nodes();
  for (const CollectiveAlgorithm* algorithm : Registry<CollectiveAlgorithm>::all()) {
    CAPTURE(std::string(algorithm->name));
    const bool reduces = algorithm->supports({CollectiveOp::all_reduce, 1_B}, {16, 2, 8});
    const CollectiveOp op = reduces ? CollectiveOp::all_reduce : CollectiveOp::all_to_all;
    double before = 0;
    for (double bytes = 1; bytes < 1e11; bytes *= 10) {
      const Phases phases = algorithm->phases({op, Bytes{bytes}}, {16, 2, 8}, cluster);
      const double now = uncontended(phases).seconds();
      CHECK(now > before);
      CHECK(now > (reduces ? 2 : 1) * 10e-6);
      before = now;
    }
  }
}

TEST_CASE("ranks a node are rounded up where groups do not fill their nodes") {
  CHECK(GroupShape{16, 2, 8}.ranks_per_node() == 8);
  CHECK(GroupShape{12, 2, 8}.ranks_per_node() == 6);
  CHECK(GroupShape{3, 2, 1}.ranks_per_node() == 2);
}
