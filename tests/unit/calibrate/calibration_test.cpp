// Measurements made from a known profile, with noise, give a profile with the same times.
#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "tests/unit/calibrate/bench.hpp"

using namespace stepsim;

TEST_CASE("memory-bound kernels: the fit takes the times of the profile that made the points") {
  Bench bench("h100");
  bench.gpu().memory_kernels.elementwise = BytesPerSecond{2.2e12};
  bench.gpu().memory_kernels.optimizer = BytesPerSecond{1.7e12};
  bench.gpu().memory_kernels.latency = Seconds{4.1e-6};
  bench.add_memory(MemoryOp::add, MemoryRate::elementwise);
  bench.add_memory(MemoryOp::adam, MemoryRate::optimizer);
  const GpuProfile mine = fitted(bench);
  for (double bytes = 1e4; bytes < 1e9; bytes *= 7) {
    for (const MemoryRate kind : {MemoryRate::elementwise, MemoryRate::optimizer}) {
      const MemoryBound work{Bytes{bytes}, kind};
      CHECK(kernel_time(work, mine) / kernel_time(work, bench.gpu()) ==
            doctest::Approx(1).epsilon(kNoise));
    }
  }
  CHECK(mine.memory_kernels.norm == bench.gpu().memory_kernels.norm);  // not measured: as the base
}

TEST_CASE("attention: the fit takes the times of the profile that made the points") {
  Bench bench("h100");
  for (AttentionProfile& entry : bench.gpu().attention) {
    entry.plateau = entry.plateau * 0.8;
    entry.half_sequence = 900;
    entry.backward_rate = 0.7;
    entry.overhead = Seconds{9e-6};
  }
  for (const bool causal : {true, false})
    for (const bool backward : {true, false}) bench.add_attention(causal, backward);
  const GpuProfile mine = fitted(bench);
  for (const bool causal : {true, false}) {
    for (const bool backward : {true, false}) {
      const FusedAttention work{.kernel = "flash3",
                                .batch = 4,
                                .heads = 16,
                                .head_dim = 128,
                                .sequence = 3000,
                                .backward = backward,
                                .causal = causal};
      CHECK(kernel_time(work, mine) / kernel_time(work, bench.gpu()) ==
            doctest::Approx(1).epsilon(2 * kNoise));
    }
  }
}

TEST_CASE("attention that was timed with a write into a cache is fitted without it") {
  Bench bench("h100");
  bench.add_attention(true, false, 2e-12);
  const GpuProfile mine = fitted(bench);
  for (const std::int64_t sequence : {1000, 8000}) {
    const FusedAttention work{.kernel = "flash3",
                              .batch = 32768 / sequence,
                              .heads = 32,
                              .head_dim = 128,
                              .sequence = sequence};
    CHECK(kernel_time(work, mine) / kernel_time(work, bench.gpu()) ==
          doctest::Approx(1).epsilon(3 * kNoise));
  }
}

TEST_CASE("attention: what no point shows is neither in the report nor called fitted") {
  Bench bench("h100");
  bench.add_attention(true, false);
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  const std::string& remark = family(made, "attention flash3, head 128").remark;
  CHECK(remark.starts_with("causal "));
  CHECK(remark.find("full") == std::string::npos);
  CHECK(remark.find("backward") == std::string::npos);
  const auto source = [&](const std::string& key) {
    const std::size_t entry = made.gpu_text.find("fitted to bench.json");
    REQUIRE(entry != std::string::npos);
    // place of the entry that was fitted
    std::size_t at = made.gpu_text.find("source: attention-");
    at = made.gpu_text.rfind("kernel: ", at);
    at = made.gpu_text.find(" " + key + ": ", at);
    const std::size_t from = made.gpu_text.find("source: ", at) + 8;
    return made.gpu_text.substr(from, made.gpu_text.find('}', from) - from);
  };
  CHECK(source("plateau") == source("overhead"));
  CHECK(source("full_plateau") == "attention-full");
  CHECK(source("full_half_sequence") == "attention-full");
  CHECK(source("backward_rate") == "base");
}

TEST_CASE("a family with too few points is as the base, and a file of nothing else is refused") {
  Bench bench("h100");
  bench.add_memory(MemoryOp::copy, MemoryRate::elementwise);
  bench.add(MemoryOpPoint{MemoryOp::norm, Precision::bf16, 1, 1 << 20, 1 << 22}, Seconds{1e-3});
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  CHECK_FALSE(family(made, "memory norm").fitted);
  CHECK(family(made, "memory norm").remark ==
        "as h100: 1 point of memory norm, a fit needs at least 2");
  Bench lonely("h100");
  lonely.add(MemoryOpPoint{MemoryOp::norm, Precision::bf16, 1, 1 << 20, 1 << 22}, Seconds{1e-3});
  CHECK_THROWS_WITH_AS(calibrate(lonely.files(), {.gpu = "mine"}, shipped()),
                       "1 point of memory norm, a fit needs at least 2", UserError);
}

TEST_CASE("each class of memory-bound kernels says whether its errors are held out") {
  Bench bench("h100");
  bench.add_memory(MemoryOp::copy, MemoryRate::elementwise);
  for (const std::int64_t bytes : {1 << 20, 1 << 24, 1 << 28})
    bench.add(
        MemoryOpPoint{MemoryOp::norm, Precision::bf16, 1, bytes / 4, bytes},
        kernel_time(MemoryBound{Bytes{static_cast<double>(bytes)}, MemoryRate::norm}, bench.gpu()));
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  CHECK(family(made, "memory elementwise").held_out);
  CHECK_FALSE(family(made, "memory norm").held_out);
  CHECK(family(made, "memory norm").errors.points == 3);
  const GpuProfile mine = parse_gpu(made.gpu_text, "mine.yaml");
  REQUIRE(mine.memory_kernels.range.bytes);  // what both were measured at
  CHECK(mine.memory_kernels.range.bytes->least == Bytes{0x1p20});
  CHECK(mine.memory_kernels.range.bytes->most == Bytes{0x1p28});
}

TEST_CASE("the sizes that were measured are in the profile") {
  Bench bench("h100");
  bench.add_memory(MemoryOp::copy, MemoryRate::elementwise);
  bench.add_attention(true, false);
  const GpuProfile mine = fitted(bench);
  CHECK(mine.memory_kernels.range.bytes->least == Bytes{0x1p14});
  CHECK(mine.memory_kernels.range.bytes->most == Bytes{0x1p30});
  const FusedAttention work{.kernel = "flash3", .heads = 1, .head_dim = 128};
  CHECK(attention_profile(mine, work).range.sequence->least == 512);
  CHECK(attention_profile(mine, work).range.sequence->most == 32768);
}

TEST_CASE("held-out errors are about the noise, and say how many points there were") {
  Bench bench("h100");
  bench.add_memory(MemoryOp::copy, MemoryRate::elementwise);
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  const FamilyReport& report = family(made, "memory elementwise");
  CHECK(report.errors.points == 17);
  CHECK(report.held_out);
  CHECK(report.errors.mean < 2 * kNoise);
  CHECK(report.errors.mean > kNoise / 4);
  CHECK(made.base == "h100");
}

TEST_CASE("what was not measured says so, and what was says by what") {
  Bench bench("h100");
  bench.add_memory(MemoryOp::copy, MemoryRate::elementwise);
  const std::string text = calibrate(bench.files(), {.gpu = "mine"}, shipped()).gpu_text;
  CHECK(text.find("  base: \"derived: as h100, not measured\"\n") != std::string::npos);
  CHECK(text.find("fitted to bench.json (NVIDIA H100 80GB HBM3, 2026-01-31, 17 points), held-out "
                  "error ") != std::string::npos);
  CHECK(text.find("norm: {value: 2 TB/s, source: base}") != std::string::npos);
}

TEST_CASE("a profile is of one GPU, and of one that is known or named") {
  Bench one("h100"), other("h100");
  one.add_memory(MemoryOp::copy, MemoryRate::elementwise);
  other.add_memory(MemoryOp::copy, MemoryRate::elementwise);
  MeasuredFile a = one.files().front(), b = other.files().front();
  b.name = "other.json";
  b.content.device.name = "NVIDIA A100-SXM4-80GB";
  CHECK_THROWS_WITH_AS(calibrate({a, b}, {.gpu = "mine"}, shipped()),
                       "other.json is of 'NVIDIA A100-SXM4-80GB', but bench.json of 'NVIDIA H100 "
                       "80GB HBM3': a profile is of one GPU",
                       UserError);
  b.content.device = {};
  for (PointRecord& record : b.content.records)  // as slow as the slowest of these
    record.measured.timing.seconds *= 4;
  CHECK_THROWS_WITH_AS(calibrate({b}, {.gpu = "mine"}, shipped()),
                       doctest::Contains("name a profile with --base (v100, a100-80"), UserError);
  CHECK(calibrate({b}, {.gpu = "mine", .base = "v100"}, shipped()).base == "v100");
  b.content.device.name = "NVIDIA A100-SXM4-40GB";
  b.content.device.memory_bytes = 42'000'000'000;
  CHECK(calibrate({b}, {.gpu = "mine"}, shipped()).base == "a100-40");
  b.content.device.name = "NVIDIA L40S";
  CHECK(calibrate({b}, {.gpu = "mine"}, shipped()).base == "l40s");
  CHECK_THROWS_WITH_AS(
      calibrate({b}, {.gpu = "mine", .link = "mine"}, shipped()),
      doctest::Contains("nothing is known of links between GPUs like l40s: name one"), UserError);
  b.content.device.name = "NVIDIA A10";  // no name that is known, but a generation
  b.content.device.compute_major = 8;
  CHECK(calibrate({b}, {.gpu = "mine"}, shipped()).base == "a100-40");
}

TEST_CASE(
    "times in other units are refused at the first of them, and what shows no constant, too") {
  Bench slow("h100");
  slow.gpu().memory_kernels.elementwise = slow.gpu().memory_kernels.elementwise / 1000;
  slow.gpu().memory_kernels.latency = slow.gpu().memory_kernels.latency * 1000;
  slow.add_memory(MemoryOp::add, MemoryRate::elementwise);
  CHECK_THROWS_WITH_AS(calibrate(slow.files(), {.gpu = "mine"}, shipped()),
                       doctest::Contains("times as long as those of h100"), UserError);
  Bench idle("h100");
  idle.add(QueuePoint{}, Seconds{1});
  CHECK_THROWS_WITH_AS(calibrate(idle.files(), {.gpu = "mine"}, shipped()),
                       doctest::Contains("a copy of h100"), UserError);
}

TEST_CASE("a card of the base's name with another memory has its own memory, bandwidth and peaks") {
  Bench bench("h100");
  bench.add_memory(MemoryOp::copy, MemoryRate::elementwise);
  const auto made = [&](const char* name, double gib, double sm_clock, double memory_clock) {
    auto files = bench.files();
    DeviceFacts& device = files.front().content.device;
    device.name = name;
    device.memory_bytes = static_cast<std::int64_t>(gib * 0x1p30);
    device.memory_bus_bits = 5120;
    device.max_sm_clock_hz = sm_clock;
    device.max_memory_clock_hz = memory_clock;
    return calibrate(files, {.gpu = "mine"}, shipped());
  };
  const auto read = [](const Calibration& one) { return parse_gpu(one.gpu_text, "mine.yaml"); };
  const Calibration sxm = made("NVIDIA H100 80GB HBM3", 79.2, 1.98e9, 2.619e9);
  CHECK(read(sxm).memory.bytes() == doctest::Approx(79.2 * 0x1p30).epsilon(1e-6));
  CHECK(read(sxm).memory_bandwidth == bench.gpu().memory_bandwidth);
  CHECK(read(sxm).gemm.front().peak == bench.gpu().gemm.front().peak);
  const Calibration nvl = made("NVIDIA H100 NVL", 93.1, 1.785e9, 3.201e9);
  CHECK(nvl.base == "h100");
  CHECK(read(nvl).memory.bytes() == doctest::Approx(93.1 * 0x1p30).epsilon(1e-6));
  CHECK(read(nvl).memory_bandwidth.bytes_per_second() == doctest::Approx(5120 / 8.0 * 2 * 3.201e9));
  CHECK(nvl.gpu_text.find("device-pins: \"derived: width") != std::string::npos);
  CHECK(nvl.gpu_text.find("device-peaks: \"derived: FLOPs a cycle") != std::string::npos);
  const Calibration grace = made("NVIDIA GH200 480GB", 94.5, 1.98e9, 2.619e9);
  CHECK(grace.base == "h100");
  CHECK(read(grace).memory.bytes() == doctest::Approx(94.5 * 0x1p30).epsilon(1e-6));
  CHECK(read(grace).memory_bandwidth.bytes_per_second() == doctest::Approx(3.35e12).epsilon(0.01));
}

TEST_CASE("a device that is like none says which it is, and where a CPU's way is") {
  Bench bench("h100");
  bench.add_memory(MemoryOp::copy, MemoryRate::elementwise);
  const auto made = [&](const char* name, int major) {
    auto files = bench.files();
    files.front().content.device.name = name;
    files.front().content.device.compute_major = major;
    return calibrate(files, {.gpu = "mine"}, shipped());
  };
  CHECK_THROWS_WITH_AS(made("", 0), doctest::Contains("do not say of which GPU they are, so"),
                       UserError);
  CHECK_THROWS_WITH_AS(made("AMD Instinct MI300X", 0),
                       doctest::Contains("'AMD Instinct MI300X' is like no GPU that stepsim has"),
                       UserError);
  CHECK_THROWS_WITH_AS(made("NVIDIA A100-SXM4", 8),
                       doctest::Contains("do not say how much memory 'NVIDIA A100-SXM4' has"),
                       UserError);
}

TEST_CASE("points that no constant is fitted to are told, and not counted") {
  Bench bench("h100");
  bench.add_memory(MemoryOp::copy, MemoryRate::elementwise);
  bench.add(OverlapPoint{}, Seconds{1e-3});
  bench.add(OverlapPoint{.m = 64}, Seconds{1e-3});
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  CHECK(made.points == 17);
  CHECK_FALSE(family(made, "overlap").fitted);
  CHECK(family(made, "overlap").remark == "2 points, of which no profile has a constant");
}

TEST_CASE("attention needs as many points as it has constants that they show, in 16 bits") {
  Bench bench("h100");
  bench.add_memory(MemoryOp::copy, MemoryRate::elementwise);
  const auto add = [&](bool causal, Precision dtype, std::int64_t sequence) {
    AttentionPoint point{.dtype = dtype, .causal = causal, .batch = 4, .heads = 16};
    point.kv_heads = 16, point.sequence = sequence, point.head_dim = 128;
    point.kernel = AttentionKernel::flash3;
    bench.add(point, Seconds{1e-6 * static_cast<double>(sequence)});
  };
  for (const std::int64_t sequence : {512, 1024, 2048, 4096}) add(true, Precision::bf16, sequence);
  for (const std::int64_t sequence : {512, 1024}) add(true, Precision::fp32, sequence);
  CHECK(family(calibrate(bench.files(), {.gpu = "mine"}, shipped()), "attention flash3, head 128")
            .fitted);
  add(false, Precision::bf16, 512);
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  CHECK(family(made, "attention flash3, head 128").remark ==
        "as h100: 5 points of attention flash3, head 128, a fit needs at least 6");
  CHECK(family(made, "attention flash3 fp32").remark ==
        "2 points left out: profiles have attention in 16 bits");
}

TEST_CASE("points that show no rate are all told, each family at its place") {
  Bench bench("h100");
  for (const std::int64_t bytes : {1 << 20, 1 << 20})
    bench.add(CopyPoint{.bytes = bytes}, Seconds{1e-3});
  AttentionPoint backward{.pass = AttentionPass::backward, .batch = 4, .heads = 16};
  for (const std::int64_t sequence : {512, 1024}) {
    backward.kv_heads = 16, backward.sequence = sequence, backward.head_dim = 128;
    bench.add(backward, Seconds{1e-3});
  }
  CHECK_THROWS_WITH_AS(calibrate(bench.files(), {.gpu = "mine"}, shipped()),
                       doctest::Contains("backward passes alone do not give a rate"), UserError);
  CHECK_THROWS_WITH_AS(calibrate(bench.files(), {.gpu = "mine"}, shipped()),
                       doctest::Contains("all 2 are of 1048576 bytes: one size shows no rate"),
                       UserError);
}

TEST_CASE("what is faster than the GPU's datasheet is refused at its first point") {
  Bench bench("h100");
  for (const std::int64_t k : {4096, 8192})
    bench.add(GemmPoint{Precision::bf16, Transpose::TN, 4096, 4096, k}, Seconds{1e-4});
  bench.add_memory(MemoryOp::add, MemoryRate::elementwise);
  // 1374 and 2749 TFLOP/s, where there are 989.
  CHECK_THROWS_WITH_AS(calibrate(bench.files(), {.gpu = "mine"}, shipped()),
                       doctest::Contains("this is faster than the peak of h100, and so are 1 more"),
                       UserError);
}
