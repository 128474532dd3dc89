// From measurements of a made-up CPU to profiles, a cluster and a scenario that stepsim reads.
#include "sim/calibrate/profile/cpu_profile.hpp"

#include <cmath>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/calibrate/fit/smooth_gemm.hpp"
#include "sim/calibrate/measurement/memory_bytes.hpp"
#include "sim/command/calibrate.hpp"
#include "sim/core/error.hpp"
#include "sim/process/child.hpp"
#include "sim/scenario/load.hpp"

using namespace stepsim;

namespace {

Measured taking(double seconds) {
  Measured measured;
  measured.timing = {seconds, seconds, seconds, 10};
  return measured;
}

/// 100 GFLOP/s that saturate in m, n and k; weight gradients take 1.2 times as long.
double product_seconds(const GemmPoint& p) {
  const auto part = [](std::int64_t size, double half) { return static_cast<double>(size) + half; };
  const double work = 2 * part(p.m, 12) * part(p.n, 6) * part(p.k, 8);
  return (work / 100e9 + 2e-6) * (p.transpose == Transpose::NT ? 1.2 : 1);
}

void add_products(Measurements& all) {
  for (const std::int64_t width : {128, 256, 512, 1024})
    for (const std::int64_t tokens : {8, 64, 512})
      for (const auto transpose : {Transpose::TN, Transpose::NN, Transpose::NT}) {
        const bool turned = transpose == Transpose::NT;
        const GemmPoint point{
            Precision::fp32, transpose, turned ? width : tokens, width, turned ? tokens : width, 1,
            turned};
        all.records.push_back({point, taking(product_seconds(point)), ""});
      }
}

void add_loops(Measurements& all) {
  for (const auto& [op, rate] : {std::pair{MemoryOp::copy, 30e9}, std::pair{MemoryOp::adam, 40e9},
                                 std::pair{MemoryOp::squared_error, 20e9}})
    for (std::int64_t rows = 16; rows <= 4096; rows *= 4) {
      const std::int64_t bytes = memory_bytes(op, Precision::fp32, rows, 1024);
      all.records.push_back({MemoryOpPoint{op, Precision::fp32, rows, 1024, bytes},
                             taking(static_cast<double>(bytes) / rate), ""});
    }
}

/// Sums of two ranks in 20 us + bytes / 4 GB/s; 3.2 ms alone beside five products of 0.64 ms take
/// 5.76 ms in all, of which 2.56 ms, 0.8 of 3.2, are the sum's.
void add_messages(Measurements& all) {
  for (std::int64_t bytes = 1024; bytes <= std::int64_t{64} << 20; bytes *= 4)
    all.records.push_back({CollectivePoint{CollectiveOp::all_reduce, Precision::fp32, 2, bytes},
                           taking(20e-6 + static_cast<double>(bytes) / 4e9), ""});
  OverlapPoint overlap{
      Activity::gemm, Activity::all_reduce, Precision::fp32, 64, 1024, 1024, 1 << 24, 2};
  Measured measured = taking(5.76e-3 / 5);
  measured.alone_seconds = 0.64e-3;
  measured.products = 5;
  all.records.push_back({overlap, measured, ""});
  std::swap(overlap.timed, overlap.beside);
  measured = taking(5.76e-3);
  measured.alone_seconds = 3.2e-3;
  measured.products = 5;
  all.records.push_back({overlap, measured, ""});
}

Measurements machine() {
  Measurements all;
  all.device.name = "Example CPU";
  all.device.sms = 1;
  all.device.memory_bytes = std::int64_t{16} << 30;
  all.device.gpus = 2;
  all.started = "2026-01-31T12:00:00Z";
  add_products(all);
  add_loops(all);
  add_messages(all);
  all.records.push_back({FileReadPoint{PageCache::warm, 1 << 14}, taking(9e-6), ""});
  all.records.push_back({FileReadPoint{PageCache::warm, 1 << 20}, taking(99e-6), ""});
  all.records.push_back({DecodePoint{Codec::jpeg, 320, 240}, taking(250e-6), ""});
  return all;
}

CpuProfile profile_of(const Measurements& all) {
  return cpu_profile({"folder/example.json", all}, "example", 4);
}

}  // namespace

TEST_CASE("a CPU's profile has the rates that its measurements were made with") {
  const CpuProfile made = profile_of(machine());
  const GpuProfile core = parse_gpu(made.gpu_text, "example.yaml");
  CHECK(core.sms == 1);
  CHECK(core.memory.bytes() == doctest::Approx(8.0 * (1 << 30)));
  CHECK(core.memory_kernels.elementwise / 1_GBps == doctest::Approx(30).epsilon(0.02));
  CHECK(core.memory_kernels.optimizer / 1_GBps == doctest::Approx(40).epsilon(0.02));
  CHECK(core.memory_kernels.loss / 1_GBps == doctest::Approx(20).epsilon(0.02));
  CHECK(core.copy_pageable / 1_GBps == doctest::Approx(15).epsilon(0.02));
  CHECK(core.communication_share == doctest::Approx(0.8));
  REQUIRE(core.gemm.size() == 1);
  CHECK(core.gemm[0].weight_gradient == doctest::Approx(1.2).epsilon(0.02));
  const fit::Model model = fit::smooth_gemm_model(core.gemm[0], core.memory_bandwidth);
  const GemmPoint unseen{Precision::fp32, Transpose::TN, 200, 700, 300};
  Gemm gemm;
  gemm.m = 200;
  gemm.n = 700;
  gemm.k = 300;
  gemm.precision = Precision::fp32;
  CHECK(model(gemm).seconds() == doctest::Approx(product_seconds(unseen)).epsilon(0.03));
}

TEST_CASE("a ring over two cores takes what was measured") {
  const LinkProfile link = parse_link(profile_of(machine()).link_text, "example.yaml");
  // Two steps of half the message: 2 x 10 us, and the whole at 4 GB/s.
  CHECK(link.latency.seconds() == doctest::Approx(10e-6).epsilon(0.01));
  CHECK(link.bandwidth / 1_GBps == doctest::Approx(4).epsilon(0.01));
}

TEST_CASE("cluster and scenario say what was measured") {
  const CpuProfile made = profile_of(machine());
  CHECK(made.cluster_text.find("gpus_per_node: 2\nintra_node: example\n") != std::string::npos);
  CHECK(made.scenario_text.find("cluster: {base: example, gpus_per_node: 2}\n") !=
        std::string::npos);
  CHECK(made.scenario_text.find("decode: 250 us\n") != std::string::npos);
  CHECK(made.scenario_text.find("cores: 4") != std::string::npos);
  for (const FamilyReport& family : made.families) {
    CAPTURE(family.family);
    CHECK(std::isfinite(family.errors.mean));
    CHECK(family.errors.mean < 0.05);
  }
}

TEST_CASE("what was not measured is not said, and not made up") {
  CHECK(profile_of(machine()).gpu_text.find("architecture") == std::string::npos);
  const std::string table = calibration_text({.device = "Example CPU", .points = 7});
  CHECK(table.find("7 points of Example CPU\n") == 0);
  CHECK(table.find("base: of") == std::string::npos);
  // Reads that take as long as their bytes: no latency.
  Measurements all = machine();
  for (PointRecord& record : all.records)
    if (const auto* read = std::get_if<FileReadPoint>(&record.point))
      record.measured = taking(static_cast<double>(read->bytes) / 10e9);
  CHECK(profile_of(all).scenario_text.find("storage: {bandwidth: 10 GB/s}\n") != std::string::npos);
  std::erase_if(all.records, [](const PointRecord& record) {
    return kind_of(record.point) == PointKind::file_read;
  });
  CHECK(profile_of(all).scenario_text.find("\ndata:") == std::string::npos);
}

TEST_CASE("the range of messages is the one that was measured") {
  Measurements all = machine();
  std::erase_if(all.records, [](const PointRecord& record) {
    const auto* point = std::get_if<CollectivePoint>(&record.point);
    return point != nullptr && point->bytes > 1 << 20;
  });
  const CpuProfile made = profile_of(all);
  CHECK(made.families.back().family == "all-reduce, 2 ranks");
  CHECK(made.families.back().range == "4.00 KiB to 1.00 MiB");
}

TEST_CASE("a scenario leaves a core to its loader, or has none") {
  const MeasuredFile file{"example.json", machine()};
  const std::string two = cpu_profile(file, "example", 2).scenario_text;
  CHECK(two.find("gpus_per_node: 1}") != std::string::npos);
  CHECK(two.find("workers: 1") != std::string::npos);
  const std::string one = cpu_profile(file, "example", 1).scenario_text;
  CHECK(one.find("gpus_per_node: 1}") != std::string::npos);
  CHECK(one.find("\ndata:") == std::string::npos);
}

TEST_CASE("one rank has no link, and a profile wants products and loops") {
  Measurements alone = machine();
  std::erase_if(alone.records, [](const PointRecord& record) {
    const PointKind kind = kind_of(record.point);
    return kind == PointKind::collective || kind == PointKind::overlap;
  });
  const CpuProfile made = profile_of(alone);
  CHECK(made.link_text.empty());
  CHECK(made.cluster_text.find("gpus_per_node: 1\n") != std::string::npos);
  CHECK(made.cluster_text.find("intra_node") == std::string::npos);
  std::erase_if(alone.records,
                [](const PointRecord& record) { return kind_of(record.point) == PointKind::gemm; });
  CHECK_THROWS_WITH_AS(profile_of(alone),
                       "too little was measured: 0 products of matrices, of which a fit needs 8; "
                       "the same call goes on from there, with more time by --budget",
                       UserError);
}

TEST_CASE("a child's exit code comes back, and its time ends") {
  const Seconds time{10};
  const ChildOutput said = output_of_child({"sh", "-c", "echo well; exit 7"}, time);
  CHECK(said.code == 7);
  CHECK(said.text == "well\n");
  CHECK(output_of_child({"sh", "-c", "kill -9 $$"}, time).code == 128 + 9);
  CHECK_THROWS_AS(output_of_child({"sleep", "60"}, Seconds{0.1}), SimulationError);
  CHECK_THROWS_AS(output_of_child({"/no/such/program"}, Seconds{1}), SimulationError);
  CHECK_FALSE(find_on_path("sh").empty());
  CHECK(find_on_path("no-such-program").empty());
}

TEST_CASE("variables are the child's alone, in the place of those of the same name") {
  setenv("STEPSIM_CHILD", "outside", 1);
  const std::vector<std::string> echo{"sh", "-c", "echo $STEPSIM_CHILD $STEPSIM_OTHER"};
  CHECK(output_of_child(echo, Seconds{10}, {"STEPSIM_CHILD=in", "STEPSIM_OTHER=side"}).text ==
        "in side\n");
  CHECK(output_of_child(echo, Seconds{10}).text == "outside\n");
  unsetenv("STEPSIM_CHILD");
}

TEST_CASE("sums whose times do not grow are an error at the place of the largest one") {
  MeasuredFile file{"example.json", machine()};
  const auto source = std::make_shared<const Source>(Source{.name = "example.json"});
  for (PointRecord& record : file.content.records) {
    file.places.push_back({source, static_cast<int>(file.places.size()) + 1, 1});
    if (std::holds_alternative<CollectivePoint>(record.point)) record.measured = taking(1e-4);
  }
  CHECK_THROWS_WITH_AS(cpu_profile(file, "example", 4),
                       "example.json:60:1: all-reduce: 4096 bytes take 0.0001 s, and 67108864 take "
                       "0.0001 s: times that do not grow show no rate, measure again, by another "
                       "file or without the collectives in this one",
                       UserError);
}

TEST_CASE("what an all-reduce costs is of the products that ran beside it") {
  Measurements all = machine();
  // Each record chose its number: 4 of 0.64 ms and 2.56 ms of the sum take 5.12 ms.
  for (PointRecord& record : all.records) {
    const auto* point = std::get_if<OverlapPoint>(&record.point);
    if (point == nullptr || point->timed != Activity::gemm) continue;
    record.measured.timing = taking(5.12e-3 / 4).timing;
    record.measured.products = 4;
  }
  CHECK(parse_gpu(profile_of(all).gpu_text, "example.yaml").communication_share ==
        doctest::Approx(0.8));
}

TEST_CASE("a name that YAML would read as something else is quoted") {
  const std::string name = "my core #2, new";
  const CpuProfile made = cpu_profile({"example.json", machine()}, name, 4);
  CHECK(parse_gpu(made.gpu_text, name + ".yaml").name == name);
  CHECK(made.cluster_text.find("gpu: \"my core #2, new\"\n") != std::string::npos);
  CHECK(made.scenario_text.find("{base: \"my core #2, new\", ") != std::string::npos);
}

TEST_CASE("a profile that no scenario would find is refused before anything is measured") {
  std::ostringstream out, notes;
  CHECK_THROWS_AS(calibrate_cpu({.output = "somewhere/mine.yaml"}, out, notes), UserError);
  CHECK_THROWS_AS(calibrate_cpu({.output = "calib/gpus/mine.txt"}, out, notes), UserError);
}
