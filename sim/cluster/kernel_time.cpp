// Computes kernel times: GEMMs by their model, attention by a saturating rate, the rest by bytes.
#include "sim/cluster/kernel_time.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "sim/cluster/gemm/gemm.hpp"
#include "sim/cluster/memory_rate.hpp"
#include "sim/core/error.hpp"
#include "sim/scenario/attention_rate.hpp"

namespace stepsim {
namespace {

/// Factor on the compute time of a GEMM with unaligned rows. Tensor cores are fed with 16 B at
/// once, or in more and smaller loads: cuBLAS has kernels for rows of multiples of 8 elements, of 2
/// (which 4 and 6 share), and of 1.
double unaligned(const Gemm& gemm, const GemmProfile& p) {
  if (bytes_per_element(gemm.precision) != 2 || gemm.alignment >= kAlignedElements) return 1;
  return gemm.alignment > 1 ? p.unaligned_even : p.unaligned_odd;
}

/// Time under load over time in a short benchmark. A power limit slows the clock of kernels that
/// keep all tensor cores busy. Those that stop for their sums draw less power, and are slow
/// already.
double under_load(const Gemm& gemm, const GemmProfile& p) {
  const bool stops = gemm.split_accumulator && !gemm.blockwise;
  return stops ? std::max(p.sustained, p.split_accumulator) : p.sustained;
}

Seconds time_of(const Gemm& gemm, const GpuProfile& gpu);

/// Products that follow each other: none starts before the one before it ends.
Seconds one_by_one(Gemm gemm, const GpuProfile& gpu) {
  const auto products = static_cast<double>(gemm.batch);
  gemm.batch = 1;
  gemm.one_by_one = false;
  return time_of(gemm, gpu) * products;
}

Seconds time_of(const Gemm& gemm, const GpuProfile& gpu) {
  if (gemm.one_by_one) return one_by_one(gemm, gpu);
  const GemmProfile& p = gemm_profile(gpu, gemm.precision);
  const double grouped = gemm.weight_gradient ? p.grouped_weight_gradient : p.grouped;
  const double blockwise = gemm.weight_gradient ? p.blockwise_weight_gradient : p.blockwise;
  GemmKernel kernel = gemm_kernel(gemm);
  kernel.slower = unaligned(gemm, p) * (gemm.blockwise ? blockwise : 1);
  return gemm_seconds(kernel, p, gemm_device(gpu)) *
         (under_load(gemm, p) * (gemm.weight_gradient ? p.weight_gradient : 1) *
          (gemm.grouped ? grouped : 1) / gemm.pieces);
}

/// The shape of a convolution's implicit GEMM. Strided convolutions leave out the zeros between the
/// gradients of their outputs. Groups count as a batch, a GEMM each, and have no Winograd
/// transform, which pays by the channels that share it: assumptions, because no kernel with groups
/// was measured.
GemmShape implicit_gemm(const Convolution& c) {
  const auto batch = static_cast<double>(c.batch), groups = static_cast<double>(c.groups);
  const double in = static_cast<double>(c.in_channels) / groups,
               out = static_cast<double>(c.out_channels) / groups;
  const auto taps = static_cast<double>(c.filter * c.filter);
  const double outputs = batch * static_cast<double>(c.out_image() * c.out_image());
  switch (c.pass) {
    case ConvolutionPass::forward:
      return {outputs, out, in * taps, groups};
    case ConvolutionPass::input_gradient:
      return {batch * static_cast<double>(c.image * c.image), in,
              out * taps / static_cast<double>(c.stride * c.stride), groups};
    case ConvolutionPass::weight_gradient:
      return {out, in * taps, outputs, groups};
  }
  throw InternalError("a convolution without a pass");
}

double over_gemm(const Convolution& c, const ConvolutionProfile& p) {
  if (p.winograd > 0 && c.filter == 3 && c.stride == 1 && c.groups == 1) return p.winograd;
  switch (c.pass) {
    case ConvolutionPass::forward:
      return p.forward;
    case ConvolutionPass::input_gradient:
      return p.input_gradient;
    case ConvolutionPass::weight_gradient:
      return p.weight_gradient;
  }
  throw InternalError("a convolution without a pass");
}

// The roundness with which a convolution's compute and memory time are joined. It was chosen by
// hand on single kernels, the fp16 shapes of DeepBench's cuDNN runs on a V100
// (baidu-research/DeepBench@da81ba7): with 12, the roundness of V100's GEMMs, they are 1 point
// further off. No search was made, and no other GPU's kernels were looked at; the factors of
// calib/README.md are fitted over it.
constexpr double kConvolutionRoundness = 2;

/// The GEMM profile for convolutions on tensor cores. Images move at the rate of element-wise
/// kernels. The convolution factors hold what tiles take to start and to end, for the GEMM's
/// constants are fitted to deeper products.
GemmProfile on_tensor_cores(GemmProfile p, const GpuProfile& gpu) {
  if (auto* tiled = std::get_if<TiledGemm>(&p.form)) tiled->prologue_k = 0;
  p.memory_efficiency = gpu.memory_kernels.elementwise / gpu.memory_bandwidth;
  p.roundness = kConvolutionRoundness;
  return p;
}

Seconds time_of(const Convolution& c, const GpuProfile& gpu) {
  const GemmProfile& gemm = gemm_profile(gpu, c.computed());
  const bool tensor_cores = gemm.precision != Precision::fp32;
  const GemmProfile p = tensor_cores ? on_tensor_cores(gemm, gpu) : gemm;
  // The gradient of the input is not split: on a V100 it takes the same time for 8 and for 16
  // images of 7 x 7 pixels.
  const GemmKernel kernel{.shape = implicit_gemm(c),
                          .bytes = c.bytes().bytes(),
                          .tiles = tensor_cores ? TileSet::convolution : TileSet::gemm,
                          .may_split = !tensor_cores || c.pass != ConvolutionPass::input_gradient};
  return gemm_seconds(kernel, p, gemm_device(gpu)) *
         (p.sustained * over_gemm(c, p.convolution) * (c.autotuned ? 1 : p.convolution.untuned));
}

/// The time that the last tile adds. Forward, tiles of queries that see all keys take twice as long
/// as the average tile, and one of them ends last, however few heads there are. Backward, tiles are
/// of keys and their order is free.
Seconds last_tile(const FusedAttention& attention, const GpuProfile& gpu,
                  const AttentionProfile& p) {
  if (attention.backward || !attention.causal) return Seconds{0};
  const auto width = static_cast<double>(attention.head_dim + attention.values());
  const double all = attention.joined_tokens();
  const double keys =
      attention.window > 0 ? std::min(static_cast<double>(attention.window), all) : all;
  const Flops work{2 * p.last_tile * keys * width};
  return work / (p.plateau / gpu.sms);
}

Seconds time_of(const FusedAttention& attention, const GpuProfile& gpu) {
  const AttentionProfile& p = attention_profile(gpu, attention);
  const double s = attention.joined_tokens();
  const FlopsPerSecond rate =
      forward_rate(p, s, attention.causal) * (attention.backward ? p.backward_rate : 1);
  // Tiles at both edges of a window are computed whole: forward passes with windows of 128, 1024
  // and 8192 tokens on nine GPUs are met within 7 to 11 % with so many keys more
  // (ai-dynamo/aiconfigurator@095f58a, attention with windows).
  constexpr double kKeysOfEdges = 192;
  return p.overhead + attention.flops(kKeysOfEdges) / rate + last_tile(attention, gpu, p);
}

/// The longest row of a memory class that is read only once; 0: rows of any length are.
Bytes kept_row(const MemoryProfile& p, MemoryRate rate) {
  if (!p.kept_row) return Bytes{};
  if (rate == MemoryRate::norm) return p.kept_row->norm;
  return rate == MemoryRate::softmax ? p.kept_row->softmax : Bytes{};
}

Seconds time_of(const MemoryBound& kernel, const GpuProfile& gpu) {
  const MemoryProfile& p = gpu.memory_kernels;
  const Bytes moved = std::max(bytes_moved(kernel, p), kernel.bytes * kernel.slower);
  Seconds moving = moved / (p.*class_of(kernel.rate).rate);
  if (kernel.products > Flops{})
    moving = std::max(moving, kernel.products / (peak_rate(gpu, Precision::fp32) * kernel.fed));
  if (kernel.occupied > Seconds{}) moving += kernel.occupied / static_cast<double>(gpu.sms);
  const Seconds working = std::max(moving, kernel.chain);
  const auto parts = static_cast<double>(kernel.parts);
  return Seconds{parts * std::hypot(p.latency.seconds(), working.seconds() / parts)};
}

}  // namespace

Bytes bytes_moved(const MemoryBound& kernel, const MemoryProfile& profile) {
  const Bytes kept = kept_row(profile, kernel.rate);
  if (kept <= Bytes{}) return kernel.bytes;
  return kernel.bytes + kernel.again * std::clamp(kernel.row / kept - 1, 0.0, 1.0);
}

const GemmProfile& gemm_profile(const GpuProfile& gpu, Precision precision) {
  for (const GemmProfile& profile : gpu.gemm) {
    if (profile.precision == precision) return profile;
  }
  throw InternalError(
      fmt::format("profile '{}' has no GEMM constants for this precision", gpu.name));
}

const AttentionProfile& attention_profile(const GpuProfile& gpu, const FusedAttention& attention) {
  const AttentionProfile* nearest =
      nearest_attention(gpu, attention.kernel, static_cast<double>(attention.head_dim));
  if (nearest == nullptr) {
    throw InternalError(
        fmt::format("profile '{}' has no attention kernel '{}'", gpu.name, attention.kernel));
  }
  return *nearest;
}

Seconds kernel_time(const Work& work, const GpuProfile& gpu) {
  return std::visit([&](const auto& kernel) { return time_of(kernel, gpu); }, work);
}

FlopsPerSecond peak_rate(const GpuProfile& gpu, Precision precision) {
  return gemm_profile(gpu, precision).peak;
}

}  // namespace stepsim
