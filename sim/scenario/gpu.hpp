// A GPU profile: every constant that turns an operation into seconds, as one file of calib/gpus/
// gives them.
//
// In the file each constant is `{value: 312 TFLOP/s, source: datasheet}`, where `source` names an
// entry of the file's `sources` map; the reader rejects a constant without one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/core/quantity.hpp"
#include "sim/scenario/energy.hpp"
#include "sim/scenario/kinds.hpp"

namespace stepsim {

/// The type that parameters and activations are kept in: fp8 and nvfp4 are for the operands of
/// linear layers alone (NVIDIA/TransformerEngine's autocast).
constexpr Precision storage_of(Precision p) { return needs_scales(p) ? Precision::bf16 : p; }

/// What a convolution of images with so many channels is computed in: tensor cores need four
/// (NVIDIA, Convolutional Layers User's Guide, quick-start checklist: padding 3 to 4 is
/// sufficient).
constexpr Precision convolution_precision(Precision precision, std::int64_t channels) {
  return channels < 4 ? Precision::fp32 : precision;
}

/// Sizes that a table of measurements spans, from the least to the most.
template <class T>
struct Extent {
  T least{}, most{};
  bool holds(T size) const { return least <= size && size <= most; }
  bool operator==(const Extent&) const = default;
};

/// Shapes of the GEMMs that a precision's constants were fitted to; m and n may change places.
/// Absent: nobody noted them.
struct GemmRange {
  std::optional<Extent<std::int64_t>> m, n, k;
  bool operator==(const GemmRange&) const = default;
};

/// Sizes that kernels which only move bytes were measured with.
struct MemoryRange {
  std::optional<Extent<Bytes>> bytes;
  bool operator==(const MemoryRange&) const = default;
};
/// Sizes that a fused attention kernel was measured with.
struct AttentionRange {
  std::optional<Extent<std::int64_t>> sequence;  ///< tokens of the keys
  bool operator==(const AttentionRange&) const = default;
};

/// Time of a convolution over that of a GEMM of its shape (sim/cluster/kernel_time.hpp).
struct ConvolutionProfile {
  double forward = 1;
  double input_gradient = 1;
  double weight_gradient = 1;
  double winograd = 0;  ///< all three for 3x3 filters of stride 1; 0: not used
  /// all three, time of the kernel that cuDNN takes untried over that of the best; 0: not known
  double untuned = 0;
  bool operator==(const ConvolutionProfile&) const = default;
};

/// What a closed form leaves of the measured times: logarithms at the knots of the tables of
/// sim/cluster/gemm/correction.hpp.
inline constexpr std::size_t kCorrectionSizes = 150, kCorrectionPadding = 75,
                             kCorrectionWaves = 200;
struct GemmCorrection {
  std::vector<double> sizes, padding, waves;
  bool operator==(const GemmCorrection&) const = default;
};

/// GPUs: tiles, waves and splits (sim/cluster/gemm/tiled.hpp).
struct TiledGemm {
  double droop = 0;            ///< share of the efficiency lost to power at large sizes
  Flops droop_half;            ///< size at which half of the droop has come
  double prologue_k = 0;       ///< start and end of a tile, as extra elements of k
  double tile_edge = 0;        ///< elements of a tile that a unit of its edges costs
  double lone_tile = 0;        ///< tile that fills an SM alone, in tiles of 128 x 128
  double partial_waves = 0;    ///< 0: only whole waves of tiles; 1: partial waves cost their share
  Seconds split_overhead;      ///< fixed cost of a split
  double split_bandwidth = 1;  ///< rate of a split's sums, in memory bandwidths
  std::optional<GemmCorrection> correction;
  bool operator==(const TiledGemm&) const = default;
};

/// CPUs and GPUs without tensor cores: rates that saturate (sim/cluster/gemm/smooth.hpp).
struct SmoothGemm {
  double half_m = 0;  ///< rows at which half of the efficiency is reached
  double half_n = 0;  ///< columns at which half of the efficiency is reached
  double half_k = 0;  ///< length of the sums at which half of the efficiency is reached
  bool operator==(const SmoothGemm&) const = default;
};

/// In the order of the variant GemmProfile::form.
enum class GemmModel { tiled, smooth };

/// Constants of GEMMs in one precision; formulas stand in sim/cluster/gemm/.
struct GemmProfile {
  Precision precision = Precision::bf16;
  FlopsPerSecond peak;           ///< datasheet, dense
  double efficiency = 1;         ///< share of peak in the main loop of a short kernel
  double memory_efficiency = 1;  ///< share of the datasheet memory bandwidth
  Seconds overhead;              ///< fixed cost of a kernel
  double roundness = 4;          ///< exponent p that joins compute and memory time
  std::variant<TiledGemm, SmoothGemm> form;
  double sustained = 1;  ///< time in a stream of training kernels over time in a short benchmark
  double grouped = 1;    ///< time of experts' grouped GEMMs over a batched one of the same shapes
  double grouped_weight_gradient = 1;  ///< as grouped, for the experts' weight gradients
  double unaligned_even = 1;           ///< compute time where 16-bit rows are even, but not of 16 B
  double unaligned_odd = 1;            ///< compute time where 16-bit rows are odd
  bool block_scaling = false;  ///< fp8: blocks of 32 elements have scales of their own (MXFP8)
  /// fp8: time of products whose tensors have a scale for each 128 elements, over those with one
  /// scale; 0: not known
  double blockwise = 0;
  double blockwise_weight_gradient = 0;  ///< as blockwise, for weight gradients
  /// fp8: time of products that move their sums to fp32 on the way, as those of gradients do, over
  /// that of those which do not, in a short benchmark
  double split_accumulator = 1;
  /// time of a weight-gradient GEMM that accumulates, over the time of a forward GEMM
  double weight_gradient = 1;
  ConvolutionProfile convolution;
  GemmRange range;
  bool operator==(const GemmProfile&) const = default;
};

/// Longest rows that stay in the caches until a kernel comes back to them; 0: of any length.
struct KeptRows {
  Bytes norm, softmax;
  bool operator==(const KeptRows&) const = default;
};

/// Rates of kernels that only move bytes: t = sqrt(latency^2 + (bytes / rate)^2).
struct MemoryProfile {
  Seconds latency;
  BytesPerSecond elementwise;
  BytesPerSecond norm;
  BytesPerSecond softmax;
  BytesPerSecond dropout;
  BytesPerSecond loss;
  BytesPerSecond optimizer;
  BytesPerSecond permute;  ///< gather and scatter of whole rows by index
  std::optional<KeptRows> kept_row;
  MemoryRange range;
  bool operator==(const MemoryProfile&) const = default;
};

/// A fused attention kernel of one generation: rate = plateau * s / (s + half_sequence), causal
/// FLOPs halved, with constants of its own for attention without a mask.
struct AttentionProfile {
  std::string kernel;  ///< flash1, flash2, flash3, ...
  int head_dim = 128;
  FlopsPerSecond plateau;         ///< forward, at long sequences
  double half_sequence = 0;       ///< tokens at which the rate is half of the plateau
  double last_tile = 0;           ///< causal: queries of the tile that ends a forward pass alone
  FlopsPerSecond full_plateau;    ///< plateau without a causal mask
  double full_half_sequence = 0;  ///< half_sequence without a causal mask
  /// rate of the backward kernel over the rate of the forward one (2.5 times the FLOPs)
  double backward_rate = 0.8;
  Seconds overhead;
  AttentionRange range;
  bool operator==(const AttentionProfile&) const = default;
};

/// NVIDIA's generations of data-centre GPUs, in order, by which NCCL's constants go; then AMD's.
enum class Architecture { volta, ampere, hopper, blackwell, cdna3, cdna4 };
constexpr bool is_nvidia(Architecture architecture) {
  return architecture <= Architecture::blackwell;
}
/// The generation whose constants the collectives' library has: RCCL is made of NCCL, without
/// multicast, and without what NCCL has for later GPUs (ROCm/rccl src/graph/tuning.cc).
constexpr Architecture collective_generation(Architecture architecture) {
  return is_nvidia(architecture) ? architecture : Architecture::ampere;
}

/// A GPU by its constants; one file of calib/gpus/.
struct GpuProfile {
  std::string name;
  std::string description;
  Architecture architecture = Architecture::ampere;
  int sms = 0;
  Bytes memory;                     ///< capacity
  Bytes context;                    ///< what CUDA takes, with the kernels that are loaded
  Bytes communicator;               ///< buffers of one NCCL communicator
  Bytes workspace;                  ///< what frameworks allocate for cuBLAS
  BytesPerSecond memory_bandwidth;  ///< datasheet
  /// share of a device's time that a collective takes from kernels, where it moves messages itself,
  /// as a core does
  double communication_share = 0;
  BytesPerSecond copy_pinned;  ///< host to device
  BytesPerSecond copy_pageable;
  Watts power_limit;  ///< most that a board draws for long; 0: not known
  double spread = 0;  ///< standard deviation over mean of the speed of such GPUs under load
  /// time of a GEMM beside a collective, over what the SMs that the collective leaves explain
  double gemm_contention = 1;
  std::vector<GemmProfile> gemm;  ///< for each precision that the GPU has
  MemoryProfile memory_kernels;
  std::vector<AttentionProfile> attention;
  std::string hash;     ///< hashes the file's text and the changes
  std::string changes;  ///< by the scenario, as YAML: "memory: 40 GiB"; empty: none
  bool operator==(const GpuProfile&) const = default;
};

/// The fused attention kernels of a GPU, by name.
inline std::vector<std::string> attention_kernels(const GpuProfile& gpu) {
  std::vector<std::string> names;
  for (const AttentionProfile& attention : gpu.attention) {
    if (std::ranges::find(names, attention.kernel) == names.end())
      names.push_back(attention.kernel);
  }
  return names;
}

/// How NCCL moves data: LL flags every 4 B word and LL128 every 120 B line, so that nobody waits
/// for a fence; Simple moves large chunks at full rate.
enum class Protocol { ll, ll128, simple };

/// What one kind of collective takes inside a node with one algorithm and protocol:
/// t(S) = latency + S / bandwidth in nccl-tests sizes. Of several lines the least holds.
struct CollectiveLine {
  int ranks = 0;
  std::string algorithm;  ///< a name of `stepsim list collectives`
  Protocol protocol = Protocol::simple;
  Seconds latency;
  BytesPerSecond bandwidth;
  bool operator==(const CollectiveLine&) const = default;
};

/// A link that joins the GPUs of a node; one file of calib/links/, or inline in the cluster.
struct LinkProfile {
  std::string name;
  BytesPerSecond bandwidth;  ///< per GPU and direction
  double efficiency = 1;     ///< payload that a transfer reaches, of bandwidth
  Seconds latency;           ///< until a transfer or a ring step begins to arrive
  std::vector<CollectiveLine> all_reduce, all_gather, reduce_scatter,
      all_to_all;             ///< measured; or alpha-beta
  double two_node_trees = 1;  ///< rate of trees over two nodes, of what NCCL expects of them
  std::string hash;           ///< hashes the file's text and the changes; empty when inline
  std::string changes;        ///< by the scenario, as YAML: "bandwidth: 100 GB/s"; empty: none
  bool operator==(const LinkProfile&) const = default;
};

}  // namespace stepsim
