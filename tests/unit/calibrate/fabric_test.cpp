// A log over several nodes becomes a fabric, and changes nothing that it did not measure.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/calibrate/profile/calibration.hpp"
#include "sim/core/error.hpp"
#include "sim/plan/collective.hpp"
#include "tests/unit/calibrate/bench.hpp"
#include "tests/unit/import/written_cluster.hpp"

using namespace stepsim;
using namespace stepsim::literals;

namespace {

struct Measured {
  double bytes, us;
};
// Two nodes of eight H100 on InfiniBand, all-reduce out of place: dstackai/dstack@511c318
// mkdocs/docs/examples/clusters/nebius.md.
constexpr Measured kNebius[] = {
    {4096, 36.04},         {8192, 37.24},        {16384, 37.22},        {32768, 43.82},
    {65536, 37.85},        {131072, 43.1},       {262144, 58.59},       {524288, 97.88},
    {1048576, 87.08},      {2097152, 99.06},     {4194304, 110.14},     {8388608, 154.48},
    {16777216, 210.33},    {33554432, 274.23},   {67108864, 472.43},    {134217728, 759.58},
    {268435456, 1305.66},  {536870912, 2379.38}, {1073741824, 4511.97}, {2147483648, 8776.26},
    {4294967296, 17407.8}, {8589934592, 34448.4}};

/// All of them, or every other one.
std::string log_of(int nodes, bool all) {
  std::string text = "mpirun -np 16 all_reduce_perf -b 8 -e 8G -f 2 -g 1\n# nThread 1 nGpus 1\n";
  for (int rank = 0; rank < 8 * nodes; ++rank)
    text +=
        fmt::format("#  Rank {} Group  0 Pid 7 on node-{} device {} [0x1b] NVIDIA H100 80GB HBM3\n",
                    rank, rank / 8, rank % 8);
  bool take = true;
  for (const auto& [bytes, us] : kNebius) {
    if (all || take)
      text += fmt::format("{:.0f} {:.0f} float sum -1 {} {:.2f} 0 0\n", bytes, bytes / 4, us,
                          bytes / us / 1e3);
    take = !take;
  }
  return text;
}

std::vector<MeasuredFile> files_of(const std::string& log) {
  Problems problems;
  auto file = read_measurements(std::make_shared<Source>(Source{"log.txt", "", log}), problems);
  problems.throw_if_any();
  return {file};
}

Calibration fabric_of(const std::string& log, const std::string& cluster = "dgx-h100") {
  return calibrate(files_of(log), {.fabric = "mine", .base_cluster = cluster}, shipped());
}

/// A cluster of so many nodes as a scenario has it.
Cluster read(const std::string& text, int nodes) {
  Cluster cluster = cluster_of(text.substr(text.find("base:")));
  cluster.nodes = nodes;
  return cluster;
}

Seconds time_of(const Cluster& cluster, CollectiveOp op, int ranks, int nodes, Bytes bytes) {
  return uncontended(collective({op, bytes}, {ranks, nodes, nodes > 1 ? 8 : 0}, cluster, {}));
}

Seconds all_reduce(const Cluster& cluster, int nodes, Bytes bytes) {
  return time_of(cluster, CollectiveOp::all_reduce, 8 * nodes, nodes, bytes);
}

}  // namespace

TEST_CASE(
    "a log of two nodes fits a fabric that meets held-out sizes within 4 % in the middle, large "
    "ones within 2") {
  const Calibration made = fabric_of(log_of(2, false));
  CHECK(made.gpu_text.empty());
  REQUIRE(made.fabric_text);
  const Cluster mine = read(*made.fabric_text, 2);
  std::vector<double> errors, large;
  for (std::size_t i = 1; i < std::size(kNebius); i += 2) {
    const Seconds time = all_reduce(mine, 2, Bytes{kNebius[i].bytes});
    errors.push_back(std::abs(time.microseconds() / kNebius[i].us - 1));
    if (kNebius[i].bytes > 100e6) large.push_back(errors.back());
  }
  std::sort(errors.begin(), errors.end());
  MESSAGE(fmt::format("held out: {} sizes, median {:.1f} %, largest {:.1f} %", errors.size(),
                      100 * errors[errors.size() / 2], 100 * errors.back()));
  CHECK(errors.size() == 11);
  CHECK(errors[errors.size() / 2] < 0.04);
  REQUIRE(large.size() == 4);
  CHECK(*std::max_element(large.begin(), large.end()) < 0.02);
}

TEST_CASE("sizes that were measured take what they took") {
  const Cluster mine = read(*fabric_of(log_of(2, true)).fabric_text, 2);
  for (const auto& [bytes, us] : kNebius)
    CHECK(all_reduce(mine, 2, Bytes{bytes}).microseconds() == doctest::Approx(us).epsilon(1e-3));
  // Below and above all of them NCCL's formula goes on from there.
  const Seconds small = all_reduce(mine, 2, 1_KiB), large = all_reduce(mine, 2, 16_GiB);
  CHECK(small.microseconds() == doctest::Approx(36).epsilon(0.05));
  CHECK(large / all_reduce(mine, 2, 8_GiB) == doctest::Approx(2).epsilon(0.01));
}

TEST_CASE("an algorithm that a scenario states is not what was measured") {
  const Cluster base = load_cluster("dgx-h100", shipped());
  Cluster mine = base;
  mine.inter_node->measured = read(*fabric_of(log_of(2, true)).fabric_text, 2).inter_node->measured;
  Collectives ring;
  ring.all_reduce.algorithm = "ring";
  const CollectiveRequest request{CollectiveOp::all_reduce, 64_MiB};
  const GroupShape group{16, 2, 8};
  CHECK(uncontended(collective(request, group, mine, ring)) ==
        uncontended(collective(request, group, base, ring)));
}

TEST_CASE("a fabric's curves are of the group that was measured, its hop of all") {
  const Calibration made = fabric_of(log_of(2, true));
  const Cluster mine = read(*made.fabric_text, 2), base = load_cluster("dgx-h100", shipped());
  const Fabric &fabric = *mine.inter_node, &shipped_fabric = *base.inter_node;
  REQUIRE(fabric.measured.size() == 1);
  const FabricCurve& curve = fabric.measured.front();
  CHECK(curve.nodes == 2);
  CHECK(curve.ranks == 16);
  CHECK(curve.op == CollectiveOp::all_reduce);
  CHECK(curve.sizes.size() == std::size(kNebius));
  CHECK(fabric.latency != shipped_fabric.latency);
  CHECK(fabric.bandwidth == shipped_fabric.bandwidth);
  // Everything else is what the hop alone makes of it.
  Cluster hop_alone = base;
  hop_alone.inter_node->latency = fabric.latency;
  hop_alone.inter_node->efficiency = fabric.efficiency;
  for (const int nodes : {4, 32}) {
    Cluster as_fitted = mine;
    as_fitted.nodes = hop_alone.nodes = nodes;
    CHECK(all_reduce(as_fitted, nodes, 64_MiB) == all_reduce(hop_alone, nodes, 64_MiB));
  }
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::all_to_all})
    CHECK(time_of(mine, op, 16, 2, 64_MiB) == time_of(hop_alone, op, 16, 2, 64_MiB));
  CHECK(all_reduce(mine, 1, 64_MiB) == all_reduce(base, 1, 64_MiB));
}

TEST_CASE("an all-to-all over nodes that was measured takes what it took") {
  // An all-reduce of 16 MB and more, three times as slow: the NICs carry half of what a GPU sends.
  std::string log = "mpirun -np 16 alltoall_perf -b 8 -e 8G -f 2 -g 1\n# nThread 1 nGpus 1\n";
  const std::string all_reduce = log_of(2, true);
  const std::size_t ranks = all_reduce.find("#  Rank"), table = all_reduce.find("4096 1024 float");
  log += all_reduce.substr(ranks, table - ranks);
  for (const auto& [bytes, us] : kNebius)
    log += fmt::format("{:.0f} {:.0f} float none -1 {} {:.2f} 0 0\n", bytes, bytes / 4, 3 * us,
                       bytes / us / 3e3);
  const Cluster mine = read(*fabric_of(log).fabric_text, 2);
  const double us = time_of(mine, CollectiveOp::all_to_all, 16, 2, 1_GiB).microseconds();
  CHECK(us == doctest::Approx(3 * 4511.97).epsilon(0.05));
}

TEST_CASE("a log of one node leaves the times of other numbers of GPUs as they were") {
  const Calibration made =
      calibrate(files_of(log_of(1, true)), {.gpu = "mine", .link = "mine-link"}, shipped());
  const Cluster base = load_cluster("dgx-h100", shipped());
  Cluster mine = base;
  mine.intra_node = parse_link(*made.link_text, "mine-link.yaml");
  for (const int ranks : {2, 4}) {
    for (const Bytes bytes : {64_KiB, 1_MiB, 512_MiB}) {
      for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather})
        CHECK(time_of(mine, op, ranks, 1, bytes) == time_of(base, op, ranks, 1, bytes));
    }
  }
  CHECK(time_of(mine, CollectiveOp::all_gather, 8, 1, 512_MiB) ==
        time_of(base, CollectiveOp::all_gather, 8, 1, 512_MiB));
  CHECK(time_of(mine, CollectiveOp::all_reduce, 8, 1, 512_MiB).microseconds() ==
        doctest::Approx(2379.38).epsilon(0.05));
}

TEST_CASE("what a fabric needs and does not get is named") {
  CHECK_THROWS_WITH_AS(
      calibrate(files_of(log_of(2, true)), {.fabric = "mine"}, shipped()),
      doctest::Contains("a log does not say which NICs a node has: name the cluster"), UserError);
  CHECK_THROWS_WITH_AS(fabric_of(log_of(1, true)),
                       doctest::Contains("no collectives of 4 KiB or more on several nodes"),
                       UserError);
  CHECK_THROWS_WITH_AS(
      calibrate(files_of(log_of(2, true)), {.gpu = "mine"}, shipped()),
      doctest::Contains("collectives of several nodes make a fabric, with --fabric"), UserError);
}
