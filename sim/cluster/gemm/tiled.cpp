// Chooses tiles, waves and splits of k.
#include "sim/cluster/gemm/tiled.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "sim/cluster/gemm/correction.hpp"

namespace stepsim {
namespace {

struct Tile {
  double m, n;
};

// The largest tile that all architectures have; its cost is the unit.
constexpr double kReference = 256 * 128, kReferenceEdges = 256 + 128;
// Tiles in the names of cuBLAS's kernels (gemm_bf16_128x256). Which of them it chooses from is not
// published: judgement. The last tile exists from Blackwell on.
constexpr std::array kTiles = {Tile{256, 128}, Tile{128, 256}, Tile{128, 128},
                               Tile{128, 64},  Tile{64, 128},  Tile{64, 64},
                               Tile{256, 64},  Tile{64, 256},  Tile{256, 256}};
// Tiles of cuDNN's convolutions on tensor cores: NVIDIA/apex apex/pyprof/README.md has 784 x 1 and
// 784 x 2 blocks for 200704 pixels and 64 and 256 channels.
constexpr std::array kConvolutionTiles = {Tile{256, 128}, Tile{128, 256}, Tile{128, 128},
                                          Tile{256, 64}, Tile{64, 256}};
// Splits of k that are tried; by judgement dense where one slice more or less is a large share.
constexpr std::array<double, 10> kSplits = {1, 2, 3, 4, 5, 6, 8, 12, 16, 24};
// The least number of elements of k that a slice costs. It is a floor on the cost, not a limit on
// splits: were a split allowed only from some k on, a GEMM would get faster where k reaches it.
constexpr double kLeastSlice = 64;

std::span<const Tile> tiles_of(TileSet set, const GemmDevice& device) {
  if (set == TileSet::convolution) return kConvolutionTiles;
  return std::span(kTiles).first(device.large_tiles ? kTiles.size() : kTiles.size() - 1);
}

/// What a tile costs an SM, in elements.
double area_of(Tile tile, double edge) {
  return (tile.m * tile.n + edge * (tile.m + tile.n)) * kReference /
         (kReference + edge * kReferenceEdges);
}

/// The tiles that one SM works through, one after another or side by side, where `exact` of them
/// come to each SM.
double waves(double exact, Tile tile, const TiledGemm& form) {
  const double elements = tile.m * tile.n;
  const double together = std::clamp(std::floor(kReference / elements), 1.0, 4.0);
  const double alone = std::max(1.0, form.lone_tile * 128 * 128 / elements);
  const double whole = std::ceil(exact);
  const double rounds = std::floor(whole / together), rest = whole - rounds * together;
  const double stepped =
      rounds * std::max(together, alone) + (rest > 0 ? std::max(rest, alone) : 0);
  if (exact <= 1) return stepped;
  return form.partial_waves * std::max(alone, exact) + (1 - form.partial_waves) * stepped;
}

using OfSplits = std::array<double, kSplits.size()>;

/// The elements of output that the busiest SM computes, with the best tiles for each split.
OfSplits least_areas(const GemmKernel& kernel, const TiledGemm& form, const GemmDevice& device) {
  const GemmShape& g = kernel.shape;
  OfSplits least;
  least.fill(INFINITY);
  const std::size_t splits = kernel.may_split ? kSplits.size() : 1;
  for (const Tile tile : tiles_of(kernel.tiles, device)) {
    const double tiles = std::ceil(g.m / tile.m) * std::ceil(g.n / tile.n) * g.batch;
    const double area = area_of(tile, form.tile_edge);
    for (std::size_t i = 0; i < splits; ++i) {
      least[i] = std::min(least[i], area * waves(tiles * kSplits[i] / device.sms, tile, form));
    }
  }
  return least;
}

double rate_of_sm(const GemmShape& g, const GemmProfile& p, const TiledGemm& form, double sms) {
  const double size = g.flops();
  const double drooped = 1 - form.droop * size / (size + form.droop_half.flops());
  return p.peak.flops_per_second() * p.efficiency * drooped / sms;
}

double split_seconds(const GemmShape& g, const TiledGemm& form, double bandwidth, double split) {
  if (split == 1) return 0;
  const double bytes = 4 * g.m * g.n * g.batch * (split + 1);
  return form.split_overhead.seconds() + bytes / (form.split_bandwidth * bandwidth);
}

}  // namespace

Seconds gemm_seconds(const GemmKernel& kernel, const GemmProfile& profile, const TiledGemm& form,
                     const GemmDevice& device) {
  const GemmShape& g = kernel.shape;
  const double bandwidth = device.bandwidth.bytes_per_second();
  const double memory = kernel.bytes / (bandwidth * profile.memory_efficiency);
  const double rate = rate_of_sm(g, profile, form, device.sms) / kernel.slower;
  const OfSplits areas = least_areas(kernel, form, device);
  double best = INFINITY;
  for (std::size_t i = 0; i < kSplits.size() && areas[i] < INFINITY; ++i) {
    const double slice = i == 0 ? g.k : std::max(g.k / kSplits[i], kLeastSlice);
    const double compute = 2 * areas[i] * (slice + form.prologue_k) / rate;
    const double split = split_seconds(g, form, bandwidth, kSplits[i]);
    if (std::max(compute, memory) + split >= best) continue;  // the join is never less
    best = std::min(best, joined_seconds(compute, memory, profile.roundness) + split);
  }
  const bool corrected = form.correction && kernel.tiles == TileSet::gemm && g.batch == 1;
  return (profile.overhead + Seconds{best}) *
         (corrected ? correction_factor(*form.correction, g, device.sms) : 1);
}

}  // namespace stepsim
