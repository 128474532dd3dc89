// Kernel times: waves of tiles, splits of k, and which constant of a profile is used for what.
#include "sim/cluster/kernel_time.hpp"

#include <cmath>
#include <fstream>
#include <sstream>
#include <utility>

#include "sim/core/error.hpp"
#include "sim/scenario/names.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

double time_of(const Work& work, const GpuProfile& gpu) { return kernel_time(work, gpu).seconds(); }

/// 100 SMs of 10 TFLOP/s, whole waves only, memory that is never in the way.
GpuProfile tiled_gpu() {
  GpuProfile gpu = paper_gpu();
  tiles_of(gpu).tile_edge = 1e9;  // smaller tiles than 256 x 128 have more edge
  tiles_of(gpu).lone_tile = 2;    // smaller tiles fill half of an SM
  return gpu;
}

/// A row of 256 x 128 tiles.
Gemm tiles(std::int64_t count, std::int64_t k) {
  return {256, 128 * count, k, 1, false, Precision::fp16};
}

}  // namespace

TEST_CASE("rows that are not multiples of 16 B make 16-bit products slower, and no others") {
  GpuProfile gpu = tiled_gpu();
  GemmProfile& profile = gpu.gemm[0];
  profile.unaligned_even = 1.5;
  profile.unaligned_odd = 2.5;
  const auto seconds = [&](Precision precision, std::int64_t alignment) {
    profile.precision = precision;
    Gemm gemm = tiles(100, 512);
    gemm.precision = precision;
    gemm.alignment = alignment;
    return time_of(gemm, gpu);
  };
  const double aligned = seconds(Precision::fp16, 8);
  CHECK(seconds(Precision::fp16, 4) == nine_digits(1.5 * aligned));
  CHECK(seconds(Precision::fp16, 2) == nine_digits(1.5 * aligned));
  CHECK(seconds(Precision::fp16, 1) == nine_digits(2.5 * aligned));
  CHECK(seconds(Precision::fp32, 1) == seconds(Precision::fp32, 8));
}

TEST_CASE("rows that are not aligned compute more slowly, and move as fast") {
  GpuProfile gpu = tiled_gpu();
  gpu.gemm[0].unaligned_odd = 3;
  gpu.memory_bandwidth = 1_GBps;  // moving takes a thousand times as long as computing
  Gemm gemm = tiles(100, 64);
  const double aligned = time_of(gemm, gpu);
  gemm.alignment = 1;
  CHECK(time_of(gemm, gpu) == doctest::Approx(aligned).epsilon(1e-3));
}

TEST_CASE("tiles run in waves: one more than there are SMs takes twice as long") {
  const GpuProfile gpu = tiled_gpu();
  const double wave = 2.0 * 256 * 128 * 64 / 10e12;
  CHECK(time_of(tiles(100, 64), gpu) == nine_digits(wave));
  CHECK(time_of(tiles(101, 64), gpu) == nine_digits(2 * wave));
  CHECK(time_of(tiles(200, 64), gpu) == nine_digits(2 * wave));
}

TEST_CASE("partial waves cost their share as far as the profile says") {
  GpuProfile gpu = tiled_gpu();
  tiles_of(gpu).partial_waves = 0.25;
  const double wave = 2.0 * 256 * 128 * 64 / 10e12;
  CHECK(time_of(tiles(150, 64), gpu) == nine_digits((0.25 * 1.5 + 0.75 * 2) * wave));
}

TEST_CASE("a deep GEMM of few tiles is split, one of a batch is not") {
  const GpuProfile gpu = tiled_gpu();
  const double whole = 2.0 * 256 * 128 * 8192 / 10e12;
  CHECK(time_of(tiles(1, 8192), gpu) == nine_digits(whole / 24));  // 24 slices on 24 of 100 SMs
  CHECK(time_of(tiles(10, 8192), gpu) == nine_digits(whole / 10 / 0.8));  // 8 slices, 80 SMs
  Gemm batch = tiles(1, 8192);
  batch.batch = 2;
  CHECK(time_of(batch, gpu) == nine_digits(whole));
}

TEST_CASE("the start of a tile costs its prologue, a kernel its overhead") {
  GpuProfile gpu = tiled_gpu();
  const double bare = time_of(tiles(100, 512), gpu);
  tiles_of(gpu).prologue_k = 128;
  CHECK(time_of(tiles(100, 512), gpu) == nine_digits(bare * 640 / 512));
  gpu.gemm[0].overhead = 3_us;
  CHECK(time_of(tiles(100, 512), gpu) == nine_digits(bare * 640 / 512 + 3e-6));
}

TEST_CASE("a smooth rate falls to half in each dimension at its half") {
  GpuProfile gpu = paper_gpu();
  GemmProfile& p = gpu.gemm[0];
  p.form = SmoothGemm{.half_m = 8, .half_n = 32, .half_k = 128};
  p.efficiency = 0.5;
  const Gemm gemm{8, 32, 128, 1, false, Precision::fp16};
  CHECK(time_of(gemm, gpu) == nine_digits(8 * gemm.flops().flops() / 500e12));
  const Gemm large{1 << 20, 1 << 20, 1 << 20, 1, false, Precision::fp16};
  CHECK(time_of(large, gpu) ==
        doctest::Approx(large.flops().flops() / 500e12).epsilon(1e-3).scale(0));
  p.overhead = 1_us;
  CHECK(time_of(gemm, gpu) == nine_digits(1e-6 + 8 * gemm.flops().flops() / 500e12));
}

TEST_CASE("a smooth rate joins the time of bytes with the profile's exponent") {
  GpuProfile gpu = paper_gpu();
  gpu.gemm[0].form = SmoothGemm{};
  gpu.gemm[0].roundness = 2;
  gpu.gemm[0].memory_efficiency = 0.5;
  gpu.memory_bandwidth = 1000_GBps;
  const double tc = 2.0 * 64 * 64 * 64 / 1000e12, tm = 2.0 * 3 * 64 * 64 / 0.5e12;
  CHECK(time_of(Gemm{64, 64, 64, 1, false, Precision::fp16}, gpu) ==
        nine_digits(std::hypot(tc, tm)));
}

TEST_CASE("a weight gradient takes the profile's factor longer") {
  GpuProfile gpu = tiled_gpu();
  gpu.gemm[0].weight_gradient = 1.07;
  Gemm gemm = tiles(100, 512);
  const double forward = time_of(gemm, gpu);
  gemm.weight_gradient = true;
  CHECK(time_of(gemm, gpu) == nine_digits(1.07 * forward));
}

TEST_CASE("each kind of memory-bound kernel moves at its own rate") {
  GpuProfile gpu = paper_gpu();
  gpu.memory_kernels = {Seconds{0}, 1_GBps, 2_GBps, 4_GBps, 5_GBps, 8_GBps, 10_GBps};
  const auto seconds = [&](MemoryRate rate) { return time_of(MemoryBound{40_GB, rate}, gpu); };
  CHECK(seconds(MemoryRate::elementwise) == nine_digits(40));
  CHECK(seconds(MemoryRate::norm) == nine_digits(20));
  CHECK(seconds(MemoryRate::softmax) == nine_digits(10));
  CHECK(seconds(MemoryRate::dropout) == nine_digits(8));
  CHECK(seconds(MemoryRate::loss) == nine_digits(5));
  CHECK(seconds(MemoryRate::optimizer) == nine_digits(4));
}

TEST_CASE("rows that are too long to be kept are read again, all from twice that length on") {
  GpuProfile gpu = paper_gpu();
  gpu.memory_kernels.latency = 0_s;
  const double once = 48e6 / gpu.memory_kernels.norm.bytes_per_second();
  const auto norm = [&](double row) {
    return time_of(MemoryBound{Bytes{48e6}, MemoryRate::norm, Bytes{24e6}, Bytes{row}}, gpu);
  };
  CHECK(norm(1e9) == nine_digits(once));  // the profile says nothing
  gpu.memory_kernels.kept_row = KeptRows{.norm = Bytes{8192}};
  CHECK(norm(4096) == nine_digits(once));
  CHECK(norm(8192) == nine_digits(once));
  CHECK(norm(12288) ==
        nine_digits(once * 1.25));  // half of a second reading: three tensors for two
  CHECK(norm(16384) == nine_digits(once * 1.5));
  CHECK(norm(1e9) == nine_digits(once * 1.5));
  const MemoryBound softmax{Bytes{48e6}, MemoryRate::softmax, Bytes{48e6}, Bytes{1e9}};
  const double rate = gpu.memory_kernels.softmax.bytes_per_second();
  CHECK(time_of(softmax, gpu) == nine_digits(48e6 / rate));  // 0: of any length
  gpu.memory_kernels.kept_row->softmax = Bytes{32768};
  CHECK(time_of(softmax, gpu) == nine_digits(96e6 / rate));
}

TEST_CASE("attention uses the constants of the nearest head dimension") {
  GpuProfile gpu = paper_gpu();
  gpu.attention = {{.kernel = "flash", .head_dim = 64, .plateau = 100_TFLOPps},
                   {.kernel = "flash", .head_dim = 128, .plateau = 200_TFLOPps, .overhead = 7_us}};
  const auto work = [](std::int64_t head_dim) {
    return FusedAttention{"flash", 2, 8, head_dim, 1024, false};
  };
  CHECK(time_of(work(64), gpu) == nine_digits(work(64).flops().flops() / 100e12));
  CHECK(time_of(work(80), gpu) == nine_digits(work(80).flops().flops() / 100e12));
  CHECK(time_of(work(112), gpu) == nine_digits(work(112).flops().flops() / 200e12 + 7e-6));
  CHECK(time_of(work(256), gpu) == nine_digits(work(256).flops().flops() / 200e12 + 7e-6));
}

TEST_CASE("attention counts the causal half forward, and 2.5 times that backward") {
  const FusedAttention forward{"flash", 3, 16, 128, 2048, false};
  CHECK(forward.flops().flops() == 2.0 * 3 * 16 * 128 * 2048 * 2048);
  FusedAttention backward = forward;
  backward.backward = true;
  CHECK(backward.flops().flops() == 2.5 * forward.flops().flops());
}

TEST_CASE(
    "without a mask attention has twice the FLOPs, at a rate of its own that grows with the keys") {
  GpuProfile gpu = paper_gpu();
  gpu.attention = {{.kernel = "flash",
                    .head_dim = 128,
                    .plateau = 100_TFLOPps,
                    .half_sequence = 512,
                    .full_plateau = 200_TFLOPps,
                    .full_half_sequence = 1024}};
  FusedAttention work{"flash", 2, 8, 128, 1024, false};
  const double causal = work.flops().flops();
  CHECK(time_of(work, gpu) == nine_digits(causal / (100e12 * 1024 / (1024 + 512))));
  work.causal = false;
  CHECK(work.flops().flops() == 2 * causal);
  CHECK(time_of(work, gpu) == nine_digits(2 * causal / 100e12));
  work.keys = 3072;  // keys of another sequence
  CHECK(time_of(work, gpu) == nine_digits(6 * causal / 150e12));
}

TEST_CASE(
    "the last tile of a forward attention works alone on its SM, however few heads there are") {
  GpuProfile gpu = paper_gpu();  // 100 SMs
  gpu.attention = {{.kernel = "flash",
                    .head_dim = 192,
                    .plateau = 100_TFLOPps,
                    .last_tile = 64,
                    .backward_rate = 1}};
  FusedAttention attention{"flash", 1, 8, 192, 4096, false, 128};
  const double tile = 2.0 * 64 * 4096 * (192 + 128) / (100e12 / 100);
  for (const std::int64_t heads : {1, 8, 64}) {
    attention.heads = heads;
    CHECK(time_of(attention, gpu) == nine_digits(attention.flops().flops() / 100e12 + tile));
  }
  attention.backward = true;
  CHECK(time_of(attention, gpu) == nine_digits(attention.flops().flops() / 100e12));
}

TEST_CASE("a precision or kernel that the profile lacks is a defect, not a time") {
  const GpuProfile gpu = paper_gpu();
  CHECK_THROWS_AS(kernel_time(Gemm{1, 1, 1, 1, false, Precision::fp8}, gpu), InternalError);
  CHECK_THROWS_AS(kernel_time(FusedAttention{"flash", 1, 1, 64, 64, false}, gpu), InternalError);
  CHECK_THROWS_AS(peak_rate(gpu, Precision::bf16), InternalError);
  CHECK(peak_rate(gpu, Precision::fp16) == 1000_TFLOPps);
}

TEST_CASE("kernels of measured profiles never get faster with more rows, columns or bytes") {
  const Library library{{source_folder()}};
  for (const std::string& name : names_in("calib/gpus", library)) {
    CAPTURE(name);
    const GpuProfile gpu = load_gpu(name, library);
    double before = 0;
    for (double bytes = 0; bytes < 1e9; bytes = bytes * 1.5 + 1000) {
      const double now = time_of(MemoryBound{Bytes{bytes}}, gpu);
      CHECK(now >= before);
      before = now;
    }
    for (const AttentionProfile& attention : gpu.attention) {
      for (const bool causal : {true, false}) {
        before = 0;
        for (std::int64_t sequence = 64; sequence < 1'000'000; sequence *= 2) {
          FusedAttention work{attention.kernel, 1, 8, attention.head_dim, sequence, false};
          work.causal = causal;
          const double now = time_of(work, gpu);
          CHECK(now > before);
          before = now;
        }
      }
    }
  }
}

TEST_CASE("a kernel that is twice as slow moves its bytes at half the rate") {
  const GpuProfile gpu = paper_gpu();
  MemoryBound kernel{Bytes{1e9}};
  const double whole = time_of(kernel, gpu);
  kernel.slower = 2;
  CHECK(time_of(kernel, gpu) == nine_digits(2 * whole));
}

namespace {

/// A product of XLA's table, and what it took.
struct MeasuredGemm {
  Gemm gemm;
  double seconds = 0;
};

/// XLA's measured products of 0.05 TFLOP and more.
std::vector<MeasuredGemm> products_of_xla(const std::string& gpu, Precision precision) {
  std::ifstream file(std::string(source_folder()) + "/calib/measured/gemm_xla.csv");
  const std::string head = gpu + "," + name_of(precision) + ",";
  std::vector<MeasuredGemm> products;
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind(head, 0) != 0) continue;
    std::istringstream cells(line.substr(head.size()));
    char comma = 0;
    double tflops = 0, microseconds = 0;
    Gemm g{.precision = precision};
    cells >> g.batch >> comma >> g.m >> comma >> g.n >> comma >> g.k >> comma >> tflops >> comma >>
        microseconds;
    if (g.flops() >= Flops{5e10}) products.push_back({g, microseconds * 1e-6});
  }
  return products;
}

/// Modelled time over the measured one, without what a running model adds; geometric mean.
double over_xla(const std::string& profile, const std::string& name, Precision precision) {
  const GpuProfile gpu = load_gpu(profile, Library{{source_folder()}});
  const auto products = products_of_xla(name, precision);
  double sum = 0;
  for (const MeasuredGemm& product : products)
    sum += std::log(time_of(product.gemm, gpu) / gemm_profile(gpu, precision).sustained /
                    product.seconds);
  return std::exp(sum / static_cast<double>(products.size()));
}

}  // namespace

TEST_CASE("large products of XLA's table: as the short benchmarks of H100 and B200") {
  CHECK(over_xla("h100", "h100", Precision::bf16) == doctest::Approx(0.995).epsilon(0.01));
  CHECK(over_xla("b200", "b200", Precision::bf16) == doctest::Approx(0.935).epsilon(0.01));
  CHECK(over_xla("b200-simumax", "b200", Precision::bf16) == doctest::Approx(1.37).epsilon(0.01));
}

TEST_CASE("fp8 of XLA's table is faster than an H100 can be: not the times of products alone") {
  const auto products = products_of_xla("h100", Precision::fp8);
  REQUIRE(products.size() == 12);
  const double highest_clock = 1.98e9, of_an_sm = 8192;  // FLOPs a cycle
  for (const MeasuredGemm& product : products)
    if (product.gemm.batch == 4 && product.gemm.n == 4096 && product.gemm.k >= 2048)
      CHECK(product.gemm.flops().base() / product.seconds > 132 * of_an_sm * highest_clock);
}
