// Tiles, waves and splits of k.
#include "sim/cluster/gemm/tiled.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

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

std::span<const Tile> tiles_of(TileSet set) {
  if (set == TileSet::convolution) return kConvolutionTiles;
  return kTiles;
}

double tile_efficiency(const TiledGemm& form, Tile tile) {
  const double edge = std::min(tile.m, tile.n);
  if (edge >= 256 || tile.m + tile.n > 256) return 1;
  return edge >= 128 ? form.tile_128 : form.tile_64;
}

/// Waves of tiles over the SMs: whole ones, softened by the share of kernels that run partial waves
/// cheaply.
double waves(double tiles, double sms, double partial) {
  const double exact = tiles / sms;
  if (exact <= 1) return 1;
  return partial * exact + (1 - partial) * std::ceil(exact);
}

double compute_seconds(const GemmShape& g, const GemmProfile& p, const TiledGemm& form, double sms,
                       Tile tile, int split) {
  const double size = g.flops();
  const double efficiency =
      p.efficiency * (1 - 0.4 * form.droop * size / (size + form.droop_half.flops()));
  const double tiles = std::ceil(g.m / tile.m) * std::ceil(g.n / tile.n) * g.batch * split;
  const double per_sm = p.peak.flops_per_second() * efficiency * tile_efficiency(form, tile) / sms;
  const double slice = split == 1 ? g.k : std::max(g.k / split, kLeastSlice);
  const double work = 2 * tile.m * tile.n * (slice + form.prologue_k);
  return waves(tiles, sms, form.partial_waves) * work / per_sm;
}

double split_seconds(const GemmShape& g, const GemmProfile& p, double bandwidth, int split) {
  if (split == 1) return 0;
  const double bytes = 4 * g.m * g.n * g.batch * (split + 1);
  return 0.5 * p.overhead.seconds() + bytes / (1.5 * bandwidth);
}

}  // namespace

Seconds gemm_seconds(const GemmKernel& kernel, const GemmProfile& profile, const TiledGemm& form,
                     const GemmDevice& device) {
  const double bandwidth = device.bandwidth.bytes_per_second();
  const double memory = kernel.bytes / (bandwidth * profile.memory_efficiency);
  double best = INFINITY;
  for (const Tile tile : tiles_of(kernel.tiles)) {
    if (tile.large_only && profile.peak.flops_per_second() < kLargeTilePeak) continue;
    for (const int split : kSplits) {
      if (split > 1 && !kernel.may_split) break;
      const double compute = compute_seconds(kernel.shape, profile, form, device.sms, tile, split);
      const double joined = joined_seconds(compute, memory, profile.roundness);
      best = std::min(best, joined + split_seconds(kernel.shape, profile, bandwidth, split));
    }
  }
  return profile.overhead + Seconds{best};
}

}  // namespace stepsim
