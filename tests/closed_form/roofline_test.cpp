// Rooflines: what a kernel's time tends to where bytes, or FLOPs, decide alone.
//
// A GEMM takes t0 + (tc^p + tm^p)^(1/p) (sim/cluster/kernel_time.hpp). Where tiles fill the SMs
// evenly, tc = F (k + k0)/k / (peak e(F)) and tm = bytes / (bandwidth e_mem): far below the ridge
// tc/tm vanishes and the time is that of the bytes; far above it that of the FLOPs, at the rate
// that power allows, peak e(F). A memory-bound kernel takes sqrt(latency^2 + (bytes / rate)^2).
// Fused attention runs at plateau s / (s + s_half): half of the plateau at s_half tokens.
#include <algorithm>
#include <cmath>

#include "sim/cluster/kernel_time.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

constexpr double kPeak = 1000e12, kBandwidth = 2e12;

/// Fluid tiles, no fixed cost: only the roofline is left.
GpuProfile roofline_gpu() {
  GpuProfile gpu = paper_gpu();
  gpu.memory_bandwidth = BytesPerSecond{kBandwidth};
  gpu.gemm = {{.precision = Precision::fp16, .peak = FlopsPerSecond{kPeak}, .form = fluid_tiles()}};
  return gpu;
}

double time_of(const GpuProfile& gpu, std::int64_t m, std::int64_t n, std::int64_t k,
               Precision precision = Precision::fp16) {
  return kernel_time(Gemm{m, n, k, 1, false, precision}, gpu).seconds();
}

double bytes(double m, double n, double k) { return 2 * (m * k + k * n + m * n); }

}  // namespace

TEST_CASE("a GEMM joins compute and memory time with the profile's exponent") {
  GpuProfile gpu = roofline_gpu();
  for (const double p : {1.0, 2.0, 4.0}) {
    gpu.gemm[0].roundness = p;
    for (const std::int64_t k : {32, 256, 1024, 8192}) {
      CAPTURE(p);
      CAPTURE(k);
      const double tc = 2.0 * 8192 * 8192 * static_cast<double>(k) / kPeak;
      const double tm = bytes(8192, 8192, static_cast<double>(k)) / kBandwidth;
      CHECK(time_of(gpu, 8192, 8192, k) ==
            nine_digits(std::pow(std::pow(tc, p) + std::pow(tm, p), 1 / p)));
    }
  }
}

TEST_CASE("far below the ridge a GEMM takes the time of its bytes") {
  // k = 8: 8 FLOPs a byte where the ridge is at 500.
  CHECK(time_of(roofline_gpu(), 16384, 16384, 8) ==
        doctest::Approx(bytes(16384, 16384, 8) / kBandwidth).epsilon(1e-6).scale(0));
}

TEST_CASE("far above the ridge a GEMM takes the time of its FLOPs at the sustained rate") {
  GpuProfile gpu = roofline_gpu();
  const double flops = 2 * std::pow(32768.0, 3);
  CHECK(time_of(gpu, 32768, 32768, 32768) == doctest::Approx(flops / kPeak).epsilon(1e-5).scale(0));
  gpu.gemm[0].efficiency = 0.9;
  tiles_of(gpu).droop = 0.5;
  tiles_of(gpu).droop_half = Flops{flops};  // half of the droop has come
  gpu.gemm[0].sustained = 1.05;
  CHECK(time_of(gpu, 32768, 32768, 32768) ==
        doctest::Approx(1.05 * flops / (kPeak * 0.9 * (1 - 0.25))).epsilon(1e-5).scale(0));
}

TEST_CASE("measured profiles keep to their roofline: never above peak, never above bandwidth") {
  const Library library{{source_folder()}};
  for (const std::string& name : names_in("calib/gpus", library)) {
    const GpuProfile gpu = load_gpu(name, library);
    for (const GemmProfile& profile : gpu.gemm) {
      CAPTURE(name);
      const double element = bytes_per_element(profile.precision);
      for (const std::int64_t size : {64, 512, 4096, 16384}) {
        for (const std::int64_t k : {64, 1024, 16384}) {
          const double t = time_of(gpu, size, size, k, profile.precision);
          const auto n = static_cast<double>(size), depth = static_cast<double>(k);
          CHECK(2 * n * n * depth / t < profile.peak.flops_per_second());
          CHECK(element * (2 * n * depth + n * n) / t < gpu.memory_bandwidth.bytes_per_second());
        }
      }
    }
  }
}

TEST_CASE("a GEMM never gets faster when k grows") {
  const Library library{{source_folder()}};
  for (const std::string& name : names_in("calib/gpus", library)) {
    const GpuProfile gpu = load_gpu(name, library);
    for (const GemmProfile& profile : gpu.gemm) {
      for (const std::pair<int, int>& size :
           {std::pair{128, 128}, {1024, 1024}, {2048, 12288}, {8192, 8192}}) {
        const int m = size.first, n = size.second;
        double before = 0;
        for (std::int64_t k = 32; k <= 16384; k += 32) {
          const double now = time_of(gpu, m, n, k, profile.precision);
          CAPTURE(name);
          CAPTURE(m);
          CAPTURE(n);
          CAPTURE(k);
          REQUIRE(now >= before);
          before = now;
        }
      }
    }
  }
}

TEST_CASE("a memory-bound kernel is the hypotenuse of latency and traffic") {
  GpuProfile gpu = paper_gpu();
  gpu.memory_kernels.latency = 3_us;
  const auto time = [&](double traffic) {
    return kernel_time(MemoryBound{Bytes{traffic}}, gpu).seconds();
  };
  CHECK(time(0) == nine_digits(3e-6));
  CHECK(time(4e6) == nine_digits(5e-6));  // 3, 4, 5
  CHECK(time(1e9) == doctest::Approx(1e-3).epsilon(1e-5).scale(0));
}

TEST_CASE("fused attention saturates with the sequence") {
  GpuProfile gpu = paper_gpu();
  gpu.attention = {{.kernel = "flash",
                    .head_dim = 128,
                    .plateau = 200_TFLOPps,
                    .half_sequence = 500,
                    .backward_rate = 0.8,
                    .overhead = Seconds{0}}};
  const auto rate = [&](std::int64_t sequence, bool backward = false) {
    const FusedAttention work{"flash", 1, 16, 128, sequence, backward};
    return work.flops() / kernel_time(work, gpu) / 1_TFLOPps;
  };
  CHECK(rate(500) == nine_digits(100));
  CHECK(rate(1500) == nine_digits(150));
  CHECK(rate(1500, true) == nine_digits(120));
  CHECK(rate(5'000'000) == doctest::Approx(200).epsilon(1e-3));
}
