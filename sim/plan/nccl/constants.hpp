// NCCL's tables of latencies and bandwidth limits, by version.
//
// NVIDIA/nccl src/graph/tuning.cc at v2.30.7; constants of v2.20 (2.20.3) and v2.27 that differ
// stand beside it. Units are NCCL's: microseconds and GB/s. A table has a row for each Algorithm,
// and columns for LL, LL128 and Simple.
#pragma once

#include <array>

#include "sim/core/quantity.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim::nccl {

/// The algorithms, in the order in which NCCL lists them.
enum class Algorithm { tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };
inline constexpr std::array kAlgorithms{Algorithm::tree,
                                        Algorithm::ring,
                                        Algorithm::collnet_direct,
                                        Algorithm::collnet_chain,
                                        Algorithm::nvls,
                                        Algorithm::nvls_tree,
                                        Algorithm::pat};
inline constexpr std::array kProtocols{Protocol::ll, Protocol::ll128, Protocol::simple};

template <class E>
constexpr std::size_t index_of(E choice) {
  return static_cast<std::size_t>(choice);
}

using ByProtocol = std::array<double, 3>;
using LatencyTable = std::array<ByProtocol, 7>;

/// Latency of every collective, whatever its size and group.
inline constexpr LatencyTable kBaseLatency{{{6.8, 14.0, 8.4},
                                            {6.6, 14.0, 8.4},
                                            {0, 0, 0},
                                            {0, 0, 0},
                                            {0, 0, 0},
                                            {0, 0, 0},
                                            {8.0, 8.0, 8.0}}};
/// Latencies of one step over NVLink, over PCIe and over the network.
inline constexpr LatencyTable kNvlinkLatency{{{0.6, 1.25, 4.0},
                                              {0.6, 1.9, 3.4},
                                              {0, 0, 3.7},
                                              {0, 0, 2.8},
                                              {0, 0, 25.0},
                                              {0, 0, 25.0},
                                              {0, 0, 4.0}}};
inline constexpr LatencyTable kPcieLatency{{{1.0, 1.9, 4.0},
                                            {1.0, 2.5, 5.7},
                                            {0, 0, 3.7},
                                            {0, 0, 2.8},
                                            {0, 0, 0},
                                            {0, 0, 0},
                                            {0, 0, 4.0}}};
inline constexpr LatencyTable kNetworkLatency{{{5.0, 8.5, 14.0},
                                               {2.7, 4.0, 14.0},
                                               {0, 0, 31.0},
                                               {0, 0, 30.0},
                                               {0, 0, 18.0},
                                               {0, 0, 20.9},
                                               {0, 0, 14.0}}};

/// A hop of the Simple protocol in rings and trees over InfiniBand, as kNetworkLatency has it.
inline constexpr Seconds kSimpleHop = 14_us;

/// Older latencies of a step: Simple steps of a tree before v2.23, NVLS steps of v2.20, and NVLS
/// trees over the network up to v2.27.
inline constexpr double kOldTreeStep = 28.0;
inline constexpr double kOldNvlsStep = 23.0;
inline constexpr double kOldNvlsTreeHop = 14.0;

/// The most channels of NVLS, and the most GPUs of a node among which NVLS gathers and scatters
/// (NCCL_MAX_NVLS_ARITY in src/include/device.h; 8 up to v2.20, which knows no larger nodes).
inline constexpr int kMostHeads = 32;

/// A bandwidth limit for each Architecture (rows), for one node, two nodes and more (columns).
using LimitTable = std::array<std::array<double, 3>, 4>;

/// Limit of all LL channels together. Between nodes the row is the CPU's: Intel the first, AMD the
/// second.
inline constexpr LimitTable kLlLimit{
    {{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}};
/// Limits of one channel each.
inline constexpr LimitTable kRingLl128Limit{
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 36.7}, {40.0, 40.0, 40.0}}};
inline constexpr LimitTable kTreeLl128Limit{
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
inline constexpr LimitTable kTreeLimit{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
inline constexpr LimitTable kNvlsTreeLimit{
    {{0, 0, 0}, {0, 0, 0}, {0, 57.7, 45.5}, {0, 96.0, 80.0}}};

/// The share of a link's bandwidth that multicast through NVSwitch reaches, by Architecture.
inline constexpr std::array kNvlsEfficiency{0.0, 0.0, 0.85, 0.74};

/// The share of the bandwidth that a tree reaches, by message size, 64 B doubled 0 to 23 times:
/// "Trees are not perfectly sticking to the model".
inline constexpr std::array<std::array<double, 24>, 3> kTreeCorrection{
    {{1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5,
      0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0},
     {1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6,
      0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0},
     {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
      0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9}}};

}  // namespace stepsim::nccl
