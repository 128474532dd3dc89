// Kernel times: tiles and waves for GEMMs, a saturating rate for attention, bytes for the rest.
#include "sim/cluster/kernel_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "sim/core/error.hpp"

namespace stepsim {
namespace {

struct Tile {
  double m, n;
  bool large_only =
      false;  // 256x256 tiles exist from Blackwell on (peak above 2.1 PFLOP/s, beyond Hopper fp8)
};

constexpr std::array kTiles = {Tile{256, 256, true}, Tile{256, 128}, Tile{128, 256}, Tile{128, 128},
                               Tile{128, 64},        Tile{64, 128},  Tile{64, 64}};
// cuDNN's convolutions on tensor cores: NVIDIA/apex apex/pyprof/README.md has 784 x 1 and 784 x 2
// blocks for 200704 pixels and 64 and 256 channels.
constexpr std::array kConvolutionTiles = {Tile{256, 128}, Tile{128, 256}, Tile{128, 128},
                                          Tile{256, 64}, Tile{64, 256}};
constexpr std::array kSplits = {1, 2, 4, 8, 16, 32};
constexpr double kLargeTilePeak = 2.1e15;
// Elements of k that a slice of a split costs at least. A floor, not a limit on splits: were a
// split allowed only from some k on, a GEMM would get faster where k reaches it.
constexpr double kLeastSlice = 64;

const GemmProfile& profile_of(const GpuProfile& gpu, Precision precision) {
  for (const GemmProfile& profile : gpu.gemm) {
    if (profile.precision == precision) return profile;
  }
  throw InternalError(
      fmt::format("profile '{}' has no GEMM constants for this precision", gpu.name));
}

double tile_efficiency(const GemmProfile& p, Tile tile) {
  const double edge = std::min(tile.m, tile.n);
  if (edge >= 256 || tile.m + tile.n > 256) return 1;
  return edge >= 128 ? p.tile_128 : p.tile_64;
}

/// Waves of tiles over the SMs: whole ones, softened by the share of kernels that run partial waves
/// cheaply.
double waves(double tiles, double sms, double partial) {
  const double exact = tiles / sms;
  if (exact <= 1) return 1;
  return partial * exact + (1 - partial) * std::ceil(exact);
}

struct GemmShape {
  double m, n, k, batch;
};

double compute_seconds(const GemmShape& g, const GpuProfile& gpu, const GemmProfile& p, Tile tile,
                       int split) {
  const double size = 2 * g.m * g.n * g.k * g.batch;
  const double efficiency =
      p.efficiency * (1 - 0.4 * p.droop * size / (size + p.droop_half.flops()));
  const double sms = gpu.sms;
  const double tiles = std::ceil(g.m / tile.m) * std::ceil(g.n / tile.n) * g.batch * split;
  const double per_sm = p.peak.flops_per_second() * efficiency * tile_efficiency(p, tile) / sms;
  const double slice = split == 1 ? g.k : std::max(g.k / split, kLeastSlice);
  const double work = 2 * tile.m * tile.n * (slice + p.prologue_k);
  return waves(tiles, sms, p.partial_waves) * work / per_sm;
}

double split_seconds(const GemmShape& g, const GpuProfile& gpu, const GemmProfile& p, int split) {
  if (split == 1) return 0;
  const double bytes = 4 * g.m * g.n * g.batch * (split + 1);
  return 0.5 * p.overhead.seconds() + bytes / (1.5 * gpu.memory_bandwidth.bytes_per_second());
}

/// What a library has to choose from.
struct Kernels {
  std::span<const Tile> tiles;
  bool may_split;
};

/// The fastest tile and split for that shape, without the fixed overhead.
double best_seconds(const GemmShape& g, double bytes, const GpuProfile& gpu, const GemmProfile& p,
                    const Kernels& kernels) {
  const double memory = bytes / (gpu.memory_bandwidth.bytes_per_second() * p.memory_efficiency);
  double best = INFINITY;
  for (const Tile tile : kernels.tiles) {
    if (tile.large_only && p.peak.flops_per_second() < kLargeTilePeak) continue;
    for (const int split : kSplits) {
      if (split > 1 && !kernels.may_split) break;
      const double compute = compute_seconds(g, gpu, p, tile, split);
      const double joined =
          std::pow(std::pow(compute / memory, p.roundness) + 1, 1 / p.roundness) * memory;
      best = std::min(best, joined + split_seconds(g, gpu, p, split));
    }
  }
  return best;
}

Seconds time_of(const Gemm& gemm, const GpuProfile& gpu) {
  const GemmProfile& p = profile_of(gpu, gemm.precision);
  const GemmShape shape{static_cast<double>(gemm.m), static_cast<double>(gemm.n),
                        static_cast<double>(gemm.k), static_cast<double>(gemm.batch)};
  const double elements = shape.m * shape.k + shape.k * shape.n + shape.m * shape.n;
  const double bytes = bytes_per_element(p.precision) * elements * shape.batch;
  // Batched GEMMs fill the GPU with their batch; libraries do not split them.
  const Kernels kernels{kTiles, gemm.batch == 1};
  const double seconds = p.overhead.seconds() + best_seconds(shape, bytes, gpu, p, kernels);
  const double grouped = gemm.weight_gradient ? p.grouped_weight_gradient : p.grouped;
  return Seconds{seconds * p.sustained * (gemm.weight_gradient ? p.weight_gradient : 1) *
                 (gemm.grouped ? grouped : 1)};
}

/// Strided convolutions leave out the zeros between the gradients of their outputs.
GemmShape implicit_gemm(const Convolution& c) {
  const auto batch = static_cast<double>(c.batch), in = static_cast<double>(c.in_channels),
             out = static_cast<double>(c.out_channels);
  const auto taps = static_cast<double>(c.filter * c.filter);
  const double outputs = batch * static_cast<double>(c.out_image() * c.out_image());
  switch (c.pass) {
    case ConvolutionPass::forward:
      return {outputs, out, in * taps, 1};
    case ConvolutionPass::input_gradient:
      return {batch * static_cast<double>(c.image * c.image), in,
              out * taps / static_cast<double>(c.stride * c.stride), 1};
    case ConvolutionPass::weight_gradient:
      return {out, in * taps, outputs, 1};
  }
  throw InternalError("a convolution without a pass");
}

double over_gemm(const Convolution& c, const ConvolutionProfile& p) {
  if (p.winograd > 0 && c.filter == 3 && c.stride == 1) return p.winograd;
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

/// On tensor cores images move at the rate of element-wise kernels, and what tiles take to start
/// and to end is in the factors: that of GEMMs is fitted to deeper ones.
GemmProfile on_tensor_cores(GemmProfile p, const GpuProfile& gpu) {
  p.prologue_k = 0;
  p.memory_efficiency = gpu.memory_kernels.elementwise / gpu.memory_bandwidth;
  return p;
}

Seconds time_of(const Convolution& c, const GpuProfile& gpu) {
  const GemmProfile& gemm = profile_of(gpu, c.computed());
  const bool tensor_cores = gemm.precision != Precision::fp32;
  const GemmProfile p = tensor_cores ? on_tensor_cores(gemm, gpu) : gemm;
  // The gradient of the input is not split there: on a V100 it takes the same time for 8 and for
  // 16 images of 7 x 7 pixels.
  const Kernels kernels =
      tensor_cores ? Kernels{kConvolutionTiles, c.pass != ConvolutionPass::input_gradient}
                   : Kernels{kTiles, true};
  const double seconds =
      p.overhead.seconds() + best_seconds(implicit_gemm(c), c.bytes().bytes(), gpu, p, kernels);
  return Seconds{seconds * p.sustained * over_gemm(c, p.convolution)};
}

/// The kernel's constants for the head dimension, or for the nearest one that was measured.
const AttentionProfile& profile_of(const GpuProfile& gpu, const FusedAttention& attention) {
  const AttentionProfile* nearest = nullptr;
  for (const AttentionProfile& p : gpu.attention) {
    if (p.kernel != attention.kernel) continue;
    const auto distance = [&](const AttentionProfile& q) {
      return std::abs(q.head_dim - attention.head_dim);
    };
    if (nearest == nullptr || distance(p) < distance(*nearest)) nearest = &p;
  }
  if (nearest == nullptr) {
    throw InternalError(
        fmt::format("profile '{}' has no attention kernel '{}'", gpu.name, attention.kernel));
  }
  return *nearest;
}

/// Tiles of queries that see all keys take twice as long as the average one, and however few heads
/// there are, one of them is the last to end. Backward, tiles are of keys and their order is free.
Seconds last_tile(const FusedAttention& attention, const GpuProfile& gpu,
                  const AttentionProfile& p) {
  if (attention.backward || !attention.causal) return Seconds{0};
  const auto width = static_cast<double>(attention.head_dim + attention.values());
  const Flops work{2 * p.last_tile * static_cast<double>(attention.key_tokens()) * width};
  return work / (p.plateau / gpu.sms);
}

Seconds time_of(const FusedAttention& attention, const GpuProfile& gpu) {
  const AttentionProfile& p = profile_of(gpu, attention);
  const auto s = static_cast<double>(attention.key_tokens());
  const FlopsPerSecond forward = attention.causal
                                     ? p.plateau * (s / (s + p.half_sequence))
                                     : p.full_plateau * (s / (s + p.full_half_sequence));
  const FlopsPerSecond rate = forward * (attention.backward ? p.backward_rate : 1);
  return p.overhead + attention.flops() / rate + last_tile(attention, gpu, p);
}

BytesPerSecond rate_of(const MemoryProfile& p, MemoryRate rate) {
  switch (rate) {
    case MemoryRate::elementwise:
      return p.elementwise;
    case MemoryRate::norm:
      return p.norm;
    case MemoryRate::softmax:
      return p.softmax;
    case MemoryRate::dropout:
      return p.dropout;
    case MemoryRate::loss:
      return p.loss;
    case MemoryRate::optimizer:
      return p.optimizer;
    case MemoryRate::permute:
      return p.permute;
  }
  throw InternalError("a memory-bound kernel without a rate");
}

Seconds time_of(const MemoryBound& kernel, const GpuProfile& gpu) {
  const MemoryProfile& p = gpu.memory_kernels;
  const Seconds moving = kernel.bytes / rate_of(p, kernel.rate);
  return Seconds{std::hypot(p.latency.seconds(), moving.seconds())};
}

}  // namespace

Seconds kernel_time(const Work& work, const GpuProfile& gpu) {
  return std::visit([&](const auto& kernel) { return time_of(kernel, gpu); }, work);
}

FlopsPerSecond peak_rate(const GpuProfile& gpu, Precision precision) {
  return profile_of(gpu, precision).peak;
}

}  // namespace stepsim
