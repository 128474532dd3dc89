// Medians, and the bounds that no measurement may break.
#include <doctest/doctest.h>

#include "sim/calibrate/measurement/peak.hpp"
#include "sim/calibrate/measurement/plausible.hpp"

using namespace stepsim;

namespace {

/// As the runtime describes it: 5120 bits at 2.619 GHz, 132 SMs at up to 1.98 GHz.
DeviceFacts h100() {
  DeviceFacts device;
  device.name = "NVIDIA H100 80GB HBM3";
  device.compute_major = 9;
  device.sms = 132;
  device.memory_bytes = std::int64_t{80} << 30;
  device.l2_bytes = std::int64_t{50} << 20;
  device.memory_bus_bits = 5120;
  device.max_sm_clock_hz = 1.98e9;
  device.max_memory_clock_hz = 2.619e9;
  return device;
}

Measured took(double seconds) {
  Measured measured;
  measured.timing = {seconds, seconds, seconds, 10};
  return measured;
}

DeviceFacts chip(int major, std::int64_t sms, double clock_hz) {
  DeviceFacts device;
  device.compute_major = major;
  device.sms = sms;
  device.max_sm_clock_hz = clock_hz;
  return device;
}

}  // namespace

TEST_CASE("the median of an even number of samples is the middle of two") {
  CHECK(quantile({4, 1, 3, 2}, 0.5) == doctest::Approx(2.5));
  CHECK(quantile({3, 1, 2}, 0.5) == 2);
  CHECK(quantile({7}, 0.9) == 7);
  // Eleven samples 0 .. 10: the tenth percentile is the second smallest.
  const Timing timing = summarise({10, 0, 9, 1, 8, 2, 7, 3, 6, 4, 5});
  CHECK(timing.p10 == doctest::Approx(1));
  CHECK(timing.seconds == 5);
  CHECK(timing.p90 == doctest::Approx(9));
  CHECK(timing.repeats == 11);
}

TEST_CASE("a sample of several GPUs is that of the slowest") {
  CHECK(slowest({{1, 5}, {2, 4}, {3, 3}}) == std::vector<double>{3, 5});
}

TEST_CASE("SMs times clock times FLOPs a cycle is the datasheet's peak") {
  // The clocks are those for which the datasheets give their peaks.
  CHECK(*peak_flops_per_s(chip(7, 80, 1.53e9), Precision::fp16) ==
        doctest::Approx(125e12).epsilon(0.01));
  CHECK(*peak_flops_per_s(chip(8, 108, 1.41e9), Precision::bf16) ==
        doctest::Approx(312e12).epsilon(0.01));
  CHECK(*peak_flops_per_s(chip(8, 108, 1.41e9), Precision::tf32) ==
        doctest::Approx(156e12).epsilon(0.01));
  CHECK(*peak_flops_per_s(chip(8, 108, 1.41e9), Precision::fp32) ==
        doctest::Approx(19.5e12).epsilon(0.01));
  CHECK(*peak_flops_per_s(chip(9, 132, 1.83e9), Precision::bf16) ==
        doctest::Approx(989.4e12).epsilon(0.01));
  CHECK(*peak_flops_per_s(chip(9, 132, 1.83e9), Precision::fp8) ==
        doctest::Approx(1979e12).epsilon(0.01));
  CHECK(*peak_flops_per_s(chip(10, 148, 1.86e9), Precision::bf16) ==
        doctest::Approx(2250e12).epsilon(0.01));
  CHECK(!peak_flops_per_s(chip(7, 80, 1.53e9), Precision::bf16));
  CHECK(!peak_flops_per_s(chip(99, 80, 1.53e9), Precision::bf16));
  CHECK(*peak_bytes_per_s(h100()) == doctest::Approx(3.35e12).epsilon(0.01));
}

TEST_CASE("a GEMM above the peak is refused with both numbers") {
  // 8192^3 x 2 = 1.0995 TFLOP; the peak at 1.98 GHz is 132 x 1.98e9 x 4096 = 1070.5 TFLOP/s.
  const GemmPoint gemm{Precision::bf16, Transpose::TN, 8192, 8192, 8192};
  CHECK(why_implausible(gemm, took(1.6e-3), h100()).empty());
  CHECK(why_implausible(gemm, took(1.0e-3), h100()) ==
        "1099.5 TFLOP/s is above the bf16 peak of 1070.5 TFLOP/s");
  // The fastest tenth counts: a median below the peak does not excuse it.
  Measured measured = took(1.6e-3);
  measured.timing.p10 = 0.5e-3;
  CHECK(!why_implausible(gemm, measured, h100()).empty());
}

TEST_CASE("Winograd's algorithm has a quarter of a convolution's products") {
  ConvolutionPoint point{
      Precision::fp32, ConvolutionPass::forward, 64, 256, 56, 56, 256, 3, 3, 1, 1};
  const double flops = 2.0 * 64 * 56 * 56 * 256 * 256 * 9;  // h100() has 66.9 TFLOP/s
  CHECK(why_implausible(point, took(flops / 200e12), h100()).empty());
  CHECK(!why_implausible(point, took(flops / 300e12), h100()).empty());
  point.stride = 2;
  CHECK(!why_implausible(point, took(flops / 4 / 100e12), h100()).empty());
}

TEST_CASE("bytes that come out of the cache are no bandwidth of the memory") {
  const std::int64_t mib = std::int64_t{1} << 20;
  MemoryOpPoint copy{MemoryOp::copy, Precision::bf16, 1, 8, 16 * mib};
  CHECK(why_implausible(copy, took(1e-6), h100()).empty());  // 16.8 TB/s, from the L2 cache
  copy.bytes = 1024 * mib;
  CHECK(why_implausible(copy, took(400e-6), h100()).empty());
  CHECK(why_implausible(copy, took(300e-6), h100()) ==
        "3579.1 GB/s is above the memory's 3352.3 GB/s");
}

TEST_CASE("times are positive and in order") {
  const CopyPoint copy{Direction::h2d, HostMemory::pinned, 4096};
  CHECK(!why_implausible(copy, took(0), h100()).empty());
  CHECK(!why_implausible(copy, took(-1), h100()).empty());
  CHECK(!why_implausible(copy, took(1.0 / 0.0), h100()).empty());
  Measured measured = took(2e-6);
  measured.timing.p10 = 3e-6;
  CHECK(!why_implausible(copy, measured, h100()).empty());
}

TEST_CASE("nothing becomes faster by what runs beside it") {
  OverlapPoint overlap;
  overlap.m = overlap.n = overlap.k = 128;
  Measured measured = took(2e-3);
  CHECK(why_implausible(overlap, measured, h100()) == "the time alone is missing");
  measured.alone_seconds = 1.9e-3;
  CHECK(why_implausible(overlap, measured, h100()).empty());
  measured.alone_seconds = 3e-3;
  CHECK(why_implausible(overlap, measured, h100()) ==
        "0.002 s with something beside it is less than 0.003 s alone");
}

TEST_CASE("a queue holds something") {
  Measured measured;
  CHECK(!why_implausible(QueuePoint{}, measured, h100()).empty());
  measured.launches = 1022;
  CHECK(why_implausible(QueuePoint{}, measured, h100()).empty());
}
