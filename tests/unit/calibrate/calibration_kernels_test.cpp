// What a calibration makes of kernels that come back to their rows, and of convolutions.
#include <doctest/doctest.h>

#include "tests/unit/calibrate/bench.hpp"

using namespace stepsim;

namespace {

/// Norms of fp32 rows, timed with a launch of that many seconds.
void add_norms(Bench& bench, double launch) {
  for (std::int64_t columns = 768; columns <= 16384; columns += 512) {
    for (const std::int64_t rows : {8192, 32768}) {
      const double tensor = 4 * static_cast<double>(rows * columns);
      const MemoryBound work{Bytes{2 * tensor}, MemoryRate::norm, Bytes{tensor},
                             Bytes{4 * static_cast<double>(columns)}};
      bench.add(MemoryOpPoint{MemoryOp::norm, Precision::fp32, rows, columns, 8 * rows * columns},
                kernel_time(work, bench.gpu()) + Seconds{launch}, true);
    }
  }
}

void add_convolutions(Bench& bench, ConvolutionPass part, ConvolutionPass pass) {
  GpuProfile gpu = bench.gpu();
  for (GemmProfile& gemm : gpu.gemm) gemm.sustained = 1;  // a benchmark
  for (const std::int64_t batch : {8, 64})
    for (const std::int64_t image : {7, 14, 28, 56})
      for (const std::int64_t channels : {64, 256})
        bench.add(ConvolutionPoint{Precision::fp16, part, batch, channels, image, image, channels,
                                   3, 3, 1, 1},
                  kernel_time(Convolution{.batch = batch,
                                          .in_channels = channels,
                                          .out_channels = channels,
                                          .image = image,
                                          .filter = 3,
                                          .pass = pass,
                                          .precision = Precision::fp16},
                              gpu));
}

}  // namespace

TEST_CASE("norms: rate, longest row that is read once, and launches that no profile has") {
  Bench bench("h100");
  MemoryProfile& truth = bench.gpu().memory_kernels;
  truth.norm = BytesPerSecond{2.8e12};
  truth.kept_row = KeptRows{.norm = Bytes{12e3}};
  add_norms(bench, 30e-6);
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  const MemoryProfile mine = parse_gpu(made.gpu_text, "mine.yaml").memory_kernels;
  CHECK(mine.norm / truth.norm == doctest::Approx(1).epsilon(kNoise));
  CHECK(mine.kept_row->norm / truth.kept_row->norm == doctest::Approx(1).epsilon(0.1));
  // the base's, for no point tells it
  CHECK(mine.latency == load_gpu("h100", shipped()).memory_kernels.latency);
  // noise of the points, and of the fit to half of them
  CHECK(family(made, "memory norm").errors.mean < 2 * kNoise);
  CHECK(family(made, "memory norm").remark.find("not in the profile: 3") != std::string::npos);
}

TEST_CASE("convolutions: factors over GEMMs, of each pass, so that sums come out") {
  Bench bench("h100");
  for (GemmProfile& gemm : bench.gpu().gemm)
    gemm.convolution = {.forward = 1.2, .input_gradient = 1.5, .weight_gradient = 0.8};
  add_convolutions(bench, ConvolutionPass::forward, ConvolutionPass::forward);
  add_convolutions(bench, ConvolutionPass::weight_gradient, ConvolutionPass::weight_gradient);
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  const GpuProfile mine = parse_gpu(made.gpu_text, "mine.yaml"), base = load_gpu("h100", shipped());
  const ConvolutionProfile& factors = gemm_profile(mine, Precision::fp16).convolution;
  CHECK(factors.forward == doctest::Approx(1.2).epsilon(kNoise));
  CHECK(factors.weight_gradient == doctest::Approx(0.8).epsilon(kNoise));
  const ConvolutionProfile& of_base = gemm_profile(base, Precision::fp16).convolution;
  CHECK(factors.input_gradient == of_base.input_gradient);
  CHECK(gemm_profile(mine, Precision::bf16).convolution ==
        gemm_profile(base, Precision::bf16).convolution);
  // noise of the points, and of the fit to half of them
  CHECK(family(made, "convolution fp16 forward").errors.mean < 2 * kNoise);
  CHECK_FALSE(family(made, "gemm fp16").fitted);
}

TEST_CASE("convolutions of shapes that models do not have are left out by number") {
  Bench bench("h100");
  add_convolutions(bench, ConvolutionPass::forward, ConvolutionPass::forward);
  bench.add(
      ConvolutionPoint{Precision::fp16, ConvolutionPass::forward, 4, 64, 28, 14, 64, 3, 3, 1, 1},
      Seconds{1e-4});
  bench.add(
      ConvolutionPoint{Precision::fp16, ConvolutionPass::forward, 4, 3, 224, 224, 64, 7, 7, 2, 3},
      Seconds{1e-4});
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  CHECK(family(made, "convolution fp16").remark.starts_with("2 points left out"));
  CHECK(family(made, "convolution fp16 forward").errors.points == 16);
}
