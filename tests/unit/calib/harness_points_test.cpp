// The list of points of the measuring harness: what it covers, in which order, and what is left
// out.
#include <set>

#include <doctest/doctest.h>

#include "calib/harness/capability.hpp"
#include "calib/harness/points.hpp"
#include "sim/calibrate/measurement/memory_bytes.hpp"
#include "sim/calibrate/measurement/work.hpp"

using namespace stepsim;
using namespace stepsim::calib;

namespace {

std::set<PointKind> kinds_of(const std::vector<Point>& points) {
  std::set<PointKind> kinds;
  for (const Point& point : points) kinds.insert(kind_of(point));
  return kinds;
}

DeviceFacts h100(std::int64_t gpus) {
  DeviceFacts device;
  device.name = "NVIDIA H100 80GB HBM3";
  device.compute_major = 9;
  device.sms = 132;
  device.memory_bytes = std::int64_t{80} << 30;
  device.gpus = gpus;
  return device;
}

DeviceFacts v100() {
  DeviceFacts device = h100(1);
  device.compute_major = 7;
  device.memory_bytes = std::int64_t{16} << 30;
  return device;
}

}  // namespace

TEST_CASE("no point is there twice, and all have sizes") {
  std::set<std::string> seen;
  for (const Point& point : all_points()) {
    CHECK_MESSAGE(seen.insert(identity(point)).second, identity(point));
    for_each_told_field(point, [&](const char* name, const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::int64_t>)
        CHECK_MESSAGE(value > 0, identity(point), ": ", name);
    });
  }
  CHECK(seen.size() == all_points().size());
}

TEST_CASE("GEMMs come in every precision and as all three passes of a layer") {
  std::set<Precision> dtypes;
  std::set<Transpose> transposes;
  bool accumulates = false, settles = false;
  for (const Point& point : gemm_points()) {
    const auto& gemm = std::get<GemmPoint>(point);
    dtypes.insert(gemm.dtype);
    transposes.insert(gemm.transpose);
    accumulates |= gemm.accumulate;
    settles |= gemm.sustained;
  }
  CHECK(dtypes.size() == kBenchmarked.size());
  CHECK(transposes.size() == measured_names<Transpose>().size());
  CHECK(accumulates);
  CHECK(settles);
}

TEST_CASE("the passes of a layer do the same work") {
  // 4096 tokens through a layer of 8192 inputs and 10240 outputs.
  const GemmPoint forward{Precision::bf16, Transpose::TN, 4096, 10240, 8192};
  const GemmPoint input{Precision::bf16, Transpose::NN, 4096, 8192, 10240};
  const GemmPoint weights{Precision::bf16, Transpose::NT, 10240, 8192, 4096};
  CHECK(flops_of(forward) == 2.0 * 4096 * 10240 * 8192);
  CHECK(flops_of(input) == flops_of(forward));
  CHECK(flops_of(weights) == flops_of(forward));
}

TEST_CASE("the first twentieth of the list has some of everything") {
  const std::vector<Point> points = all_points();
  const std::vector<Point> beginning(points.begin(),
                                     points.begin() + static_cast<long>(points.size() / 20));
  CHECK(kinds_of(beginning) == kinds_of(points));
  std::set<Precision> dtypes;
  for (const Point& point : beginning)
    if (const auto* gemm = std::get_if<GemmPoint>(&point)) dtypes.insert(gemm->dtype);
  CHECK(dtypes.size() == kBenchmarked.size());
}

TEST_CASE("the order is the same every time") {
  const std::vector<Point> one = all_points(), two = all_points();
  REQUIRE(one.size() == two.size());
  for (std::size_t i = 0; i < one.size(); ++i) REQUIRE(identity(one[i]) == identity(two[i]));
}

TEST_CASE("lists take turns in proportion to their length") {
  // Four copies and two launches: a launch after every second copy.
  std::vector<Point> copies, launches;
  for (const std::int64_t bytes : {1, 2, 3, 4})
    copies.push_back(CopyPoint{Direction::h2d, HostMemory::pinned, bytes});
  launches = {LaunchPoint{LaunchCost::stream}, LaunchPoint{LaunchCost::graph}};
  std::string order;
  for (const Point& point : interleave({copies, launches}))
    order += kind_of(point) == PointKind::copy ? 'c' : 'l';
  CHECK(order == "clcclc");
}

TEST_CASE("an identity names every field") {
  CHECK(identity(CopyPoint{Direction::d2h, HostMemory::pageable, 4096}) ==
        "copy direction=d2h host=pageable bytes=4096");
  CHECK(identity(QueuePoint{}) == "queue");
  CHECK(kind_of(blank_point(PointKind::collective)) == PointKind::collective);
  CHECK(kind_of(blank_point(PointKind::gemm)) == PointKind::gemm);
}

TEST_CASE("what a kernel has to move is counted by hand") {
  // 1024 rows of 4096 bf16: a tensor of 8 MiB.
  const std::int64_t tensor = std::int64_t{8} << 20, elements = std::int64_t{1024} * 4096;
  CHECK(memory_bytes(MemoryOp::copy, Precision::bf16, 1024, 4096) == 2 * tensor);
  CHECK(memory_bytes(MemoryOp::add, Precision::bf16, 1024, 4096) == 3 * tensor);
  CHECK(memory_bytes(MemoryOp::dropout, Precision::bf16, 1024, 4096) == 2 * tensor + elements);
  CHECK(memory_bytes(MemoryOp::cross_entropy, Precision::bf16, 1024, 4096) == tensor + 4096);
  CHECK(memory_bytes(MemoryOp::adam, Precision::fp32, 1024, 4096) == 28 * elements);
}

TEST_CASE("causal attention is counted by its half, and backward as two and a half") {
  AttentionPoint point{Precision::bf16, AttentionPass::forward, false, 2, 8, 8, 1024, 64};
  const double full = 4.0 * 2 * 8 * 64 * 1024 * 1024;
  CHECK(flops_of(point) == full);
  point.causal = true;
  CHECK(flops_of(point) == full / 2);
  point.pass = AttentionPass::backward;
  CHECK(flops_of(point) == 2.5 * full / 2);
}

TEST_CASE("collectives need their GPUs and NCCL") {
  const Point all_reduce = CollectivePoint{CollectiveOp::all_reduce, Precision::bf16, 4, 1024};
  CHECK(why_left_out(all_reduce, h100(4), {.collectives = true}).empty());
  CHECK(why_left_out(all_reduce, h100(2), {.collectives = true}) == "they need 4 GPUs, here 2");
  CHECK(why_left_out(all_reduce, h100(4), {}) == "built without NCCL");
}

TEST_CASE("a GPU is not asked for what it lacks") {
  const Point fp8 = GemmPoint{Precision::fp8, Transpose::TN, 128, 512, 512};
  CHECK(why_left_out(fp8, h100(1), {}).empty());
  CHECK(why_left_out(fp8, v100(), {}) == "no fp8 on compute capability 7.0");
  const Point large = GemmPoint{Precision::fp32, Transpose::TN, 65536, 65536, 16384};
  CHECK(why_left_out(large, h100(1), {}).empty());
  CHECK(why_left_out(large, v100(), {}) == "larger than the memory");
  // bf16 is copied everywhere, and multiplied from Ampere on.
  CHECK(why_left_out(MemoryOpPoint{MemoryOp::copy, Precision::bf16, 1, 8, 32}, v100(), {}).empty());
  CHECK(why_left_out(GemmPoint{Precision::bf16, Transpose::TN, 128, 512, 512}, v100(), {}) ==
        "no bf16 on compute capability 7.0");
}

TEST_CASE("a GPU that is not known may try everything") {
  DeviceFacts future = h100(1);
  future.compute_major = 99;
  CHECK(why_left_out(GemmPoint{Precision::fp8, Transpose::TN, 128, 512, 512}, future, {}).empty());
}
