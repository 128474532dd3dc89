// Convolutions: the time of one kernel follows from its implicit GEMM.
//
// B images of P x P pixels and C channels, K filters of R x R taps, stride s, Q = ceil(P / s)
// pixels out: m x n x k is BQQ x K x CRR forward, BPP x C x KRR/ss for the gradient of the input
// and K x CRR x BQQ for that of the weights. Each has 2 BQQ K CRR FLOPs. On a GPU of fluid tiles
// without fixed costs the time is (tc^p + tm^p)^(1/p) with tc = FLOPs / peak, as of a GEMM, and tm
// that of the images and weights, not of the GEMM's first matrix, which never exists; on tensor
// cores they move at the rate of element-wise kernels.
#include <cmath>

#include "sim/cluster/kernel_time.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

constexpr double kPeak = 1000e12, kBandwidth = 2e12, kRoundness = 2;

GpuProfile fluid_gpu() {
  GpuProfile gpu = paper_gpu();
  gpu.memory_bandwidth = gpu.memory_kernels.elementwise = BytesPerSecond{kBandwidth};
  gpu.gemm = {
      {.precision = Precision::fp16, .peak = FlopsPerSecond{kPeak}, .form = fluid_tiles()},
      {.precision = Precision::fp32, .peak = FlopsPerSecond{kPeak / 16}, .form = fluid_tiles()}};
  for (GemmProfile& gemm : gpu.gemm) gemm.roundness = kRoundness;
  return gpu;
}

/// 256 to 512 channels over 64 images: all dimensions fill tiles of 256 x 128.
Convolution wide(std::int64_t filter, std::int64_t stride,
                 ConvolutionPass pass = ConvolutionPass::forward) {
  return {.batch = 64,
          .in_channels = 256,
          .out_channels = 512,
          .image = 32,
          .filter = filter,
          .stride = stride,
          .pass = pass,
          .precision = Precision::fp16};
}

double seconds(const Convolution& c, const GpuProfile& gpu = fluid_gpu()) {
  return kernel_time(c, gpu).seconds();
}

double joined(double flops, double bytes) {
  const double tc = flops / kPeak, tm = bytes / kBandwidth;
  return std::pow(std::pow(tc, kRoundness) + std::pow(tm, kRoundness), 1 / kRoundness);
}

constexpr double B = 64, C = 256, K = 512, P = 32;

}  // namespace

TEST_CASE("a convolution takes the time of its implicit GEMM, with the bytes of its images") {
  for (const std::int64_t filter : {1, 3, 7}) {
    const auto r = static_cast<double>(filter);
    const double flops = 2 * B * P * P * K * C * r * r;
    const double bytes = 2 * (B * P * P * (C + K) + C * K * r * r);
    CAPTURE(filter);
    CHECK(wide(filter, 1).flops().flops() == flops);
    CHECK(wide(filter, 1).bytes().bytes() == bytes);
    for (const auto pass : {ConvolutionPass::forward, ConvolutionPass::input_gradient})
      CHECK(seconds(wide(filter, 1, pass)) == nine_digits(joined(flops, bytes)));
  }
}

TEST_CASE("a 1x1 convolution is a GEMM") {
  const GpuProfile gpu = fluid_gpu();
  const Gemm gemm{std::int64_t{64} * 32 * 32, 512, 256, 1, false, Precision::fp16};
  CHECK(seconds(wide(1, 1)) == nine_digits(kernel_time(gemm, gpu).seconds()));
}

TEST_CASE("groups are so many convolutions of their share of the channels, in one kernel") {
  Convolution c = wide(3, 1);
  c.groups = 2;  // 256 outputs of each group still fill tiles
  const double flops = 2 * B * P * P * K * (C / 2) * 9;
  const double bytes = 2 * (B * P * P * (C + K) + C / 2 * K * 9);
  CHECK(c.flops().flops() == flops);
  CHECK(c.bytes().bytes() == bytes);
  CHECK(seconds(c) == nine_digits(joined(flops, bytes)));
  // With four outputs a group most of a tile is empty.
  c.groups = 128;
  CHECK(c.flops().flops() == flops / 64);
  CHECK(seconds(c) > 1.05 * joined(flops / 64, 2 * B * P * P * (C + K)));
}

TEST_CASE("a stride of two quarters the outputs and the work of all three passes") {
  const double flops = 2 * B * 16 * 16 * K * C * 9;
  const double bytes = 2 * (B * (P * P * C + 16 * 16 * K) + C * K * 9);
  CHECK(wide(3, 2).out_image() == 16);
  CHECK(Convolution{.image = 7, .stride = 2}.out_image() == 4);
  CHECK(wide(3, 2).flops().flops() == flops);
  for (const auto pass : {ConvolutionPass::forward, ConvolutionPass::input_gradient})
    CHECK(seconds(wide(3, 2, pass)) == nine_digits(joined(flops, bytes)));
}

TEST_CASE("the gradient of the weights is deep and is split, as such a GEMM is") {
  // 512 x 256 outputs are 8 tiles of 256 x 64; twelve slices of k make them 96 for 100 SMs.
  // Thirteen matrices of fp32 sums are written and read for that; 24 slices would write twelve
  // more.
  const Convolution c = wide(1, 1, ConvolutionPass::weight_gradient);
  const double sums = 4 * 512 * 256 * (12 + 1) / kBandwidth;
  CHECK(seconds(c) == nine_digits(joined(c.flops().flops() * 100 / 96, c.bytes().bytes()) + sums));
}

TEST_CASE("the gradient of the input is not split: until tiles fill the GPU more images are free") {
  // 8 and 16 images of 7 x 7 pixels: 4 x 4 and 7 x 4 tiles of 128 x 128 for 100 SMs, and the time
  // of one, whose k is 512 x 9, for as many FLOPs as 100 have.
  Convolution c{.batch = 8,
                .in_channels = 512,
                .out_channels = 512,
                .image = 7,
                .filter = 3,
                .pass = ConvolutionPass::input_gradient,
                .precision = Precision::fp16};
  const double wave = 100 * 2.0 * 128 * 128 * 512 * 9;
  CHECK(seconds(c) == nine_digits(joined(wave, c.bytes().bytes())));
  c.batch = 16;
  CHECK(seconds(c) == nine_digits(joined(wave, c.bytes().bytes())));
  c.pass = ConvolutionPass::forward;
  CHECK(seconds(c) < joined(wave, c.bytes().bytes()));
}

TEST_CASE("each pass takes the profile's factor, and Winograd's algorithm its own") {
  GpuProfile gpu = fluid_gpu();
  const auto over = [&](const Convolution& c) { return seconds(c, gpu) / seconds(c); };
  const auto all = {ConvolutionPass::forward, ConvolutionPass::input_gradient,
                    ConvolutionPass::weight_gradient};
  std::vector<double> plain, winograd;
  gpu.gemm[0].convolution = {.forward = 1.1, .input_gradient = 1.2, .weight_gradient = 1.3};
  for (const auto pass : all) CHECK(seconds(wide(3, 1, pass), gpu) > seconds(wide(3, 1, pass)));
  CHECK(over(wide(3, 1, ConvolutionPass::forward)) == nine_digits(1.1));
  CHECK(over(wide(3, 1, ConvolutionPass::input_gradient)) == nine_digits(1.2));
  CHECK(over(wide(3, 1, ConvolutionPass::weight_gradient)) == nine_digits(1.3));
  gpu.gemm[0].convolution.winograd = 0.5;
  for (const auto pass : all) CHECK(over(wide(3, 1, pass)) == nine_digits(0.5));
  CHECK(over(wide(3, 2)) == nine_digits(1.1));  // strides and other filters have no Winograd form
  CHECK(over(wide(1, 1)) == nine_digits(1.1));
}

TEST_CASE("a convolution starts with the profile's overhead, once") {
  GpuProfile gpu = fluid_gpu();
  gpu.gemm[0].overhead = 3_us;
  CHECK(seconds(wide(3, 1), gpu) == nine_digits(seconds(wide(3, 1)) + 3e-6));
}

TEST_CASE("images of three channels stay off the tensor cores, padded to four they use them") {
  Convolution c{.batch = 64,
                .in_channels = 3,
                .out_channels = 64,
                .image = 224,
                .filter = 7,
                .stride = 2,
                .precision = Precision::fp16};
  CHECK(c.computed() == Precision::fp32);
  const auto on_cuda_cores = [&] { return 16 * c.flops().flops() / kPeak; };
  CHECK(seconds(c) > on_cuda_cores());
  c.in_channels = 4;
  CHECK(c.computed() == Precision::fp16);
  CHECK(seconds(c) < on_cuda_cores() / 3);
}

TEST_CASE("convolutions of measured profiles never get faster with more images or channels") {
  const Library library{{source_folder()}};
  for (const std::string& name : names_in("calib/gpus", library)) {
    CAPTURE(name);
    const GpuProfile gpu = load_gpu(name, library);
    for (const auto pass : {ConvolutionPass::forward, ConvolutionPass::input_gradient,
                            ConvolutionPass::weight_gradient}) {
      double before = 0;
      for (std::int64_t batch = 1; batch <= 512; batch *= 2) {
        const double now = seconds({.batch = batch,
                                    .in_channels = 64,
                                    .out_channels = 64,
                                    .image = 56,
                                    .filter = 3,
                                    .stride = 1,
                                    .pass = pass,
                                    .precision = Precision::fp16},
                                   gpu);
        CHECK(now >= before);
        before = now;
      }
    }
  }
}

TEST_CASE("images per second are the global batch over the step") {
  Scenario scenario = on_paper(
      "model: {base: resnet50, channels: 4}\n"
      "cluster: {name: c, gpu: a100-80, gpus_per_node: 4, intra_node: nvlink3}\n"
      "training: {global_batch: 64, micro_batch: 8, precision: fp16}\n");
  const Metrics metrics = Experiment(std::move(scenario)).metrics();
  CHECK(metrics.samples == "images");
  CHECK_FALSE(metrics.has_tokens);
  CHECK(metrics.tokens_per_s == 0);
  CHECK(metrics.samples_per_s == nine_digits(64 / metrics.step_time.seconds()));
}

TEST_CASE("a convolution that nobody tuned takes as many times as long as its GPU says") {
  GpuProfile gpu = fluid_gpu();
  gpu.gemm[0].convolution.untuned = 2.5;
  for (const ConvolutionPass pass : {ConvolutionPass::forward, ConvolutionPass::input_gradient,
                                     ConvolutionPass::weight_gradient}) {
    Convolution tuned = wide(3, 1, pass), untuned = tuned;
    untuned.autotuned = false;
    CHECK(seconds(tuned, gpu) == nine_digits(seconds(tuned)));
    CHECK(seconds(untuned, gpu) == nine_digits(2.5 * seconds(tuned)));
  }
}
