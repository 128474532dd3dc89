// What points of a measurement tell apart, and the words that its file has for it.
#pragma once

#include "sim/scenario/kinds.hpp"

namespace stepsim {

/// What a record measures; each kind has a struct in point.hpp.
enum class PointKind {
  gemm,
  memory,
  attention,
  launch,
  queue,
  copy,
  overlap,
  collective,
  file_read,
  decode,
  convolution
};
template <>
inline constexpr auto kNames<PointKind> = names_until(PointKind::convolution, "gemm", "memory",
                                                      "attention", "launch", "queue", "copy",
                                                      "overlap", "collective", "file_read",
                                                      "decode", "convolution");

/// How C[m,n] = A[m,k] B[k,n] lies in memory, rows first: in a linear layer TN is the forward
/// pass (weights stored as [n,k]), NN the gradient of the input, NT that of the weights, in the
/// order of Transformer Engine (transformer_engine/common/include/transformer_engine/gemm.h).
enum class Transpose { TN, NN, NT };
template <>
inline constexpr auto kNames<Transpose> = names_until(Transpose::NT, "TN", "NN", "NT");

enum class MemoryOp {
  copy,
  add,
  sum,
  norm,
  softmax,
  dropout,
  cross_entropy,
  adam,
  relu,
  squared_error
};
template <>
inline constexpr auto kNames<MemoryOp> = names_until(MemoryOp::squared_error, "copy", "add", "sum",
                                                     "norm", "softmax", "dropout", "cross_entropy",
                                                     "adam", "relu", "squared_error");

enum class AttentionPass { forward, backward };
template <>
inline constexpr auto kNames<AttentionPass> = names_until(AttentionPass::backward, "forward",
                                                          "backward");

/// As profiles call them; flash4 is FlashAttention's kernel for Blackwell.
enum class AttentionKernel { cudnn, flash1, flash2, flash3, flash4 };
template <>
inline constexpr auto kNames<AttentionKernel> = names_until(AttentionKernel::flash4, "cudnn",
                                                            "flash1", "flash2", "flash3", "flash4");

/// Where a launch's time is spent: on the GPU in a stream or a graph, on the host, or there and
/// back again.
enum class LaunchCost { stream, graph, host, round_trip };
template <>
inline constexpr auto kNames<LaunchCost> = names_until(LaunchCost::round_trip, "stream", "graph",
                                                       "host", "round_trip");

/// `both`: host to device and back at the same time, as many bytes in either direction.
enum class Direction { h2d, d2h, both };
template <>
inline constexpr auto kNames<Direction> = names_until(Direction::both, "h2d", "d2h", "both");

enum class HostMemory { pinned, pageable };
template <>
inline constexpr auto kNames<HostMemory> = names_until(HostMemory::pageable, "pinned", "pageable");

/// What runs while something else runs.
enum class Activity { gemm, h2d, d2h, d2d, all_reduce };
template <>
inline constexpr auto kNames<Activity> = names_until(Activity::all_reduce, "gemm", "h2d", "d2h",
                                                     "d2d", "all_reduce");

/// Whether a file was read before, or has to come from where it is stored.
enum class PageCache { warm, cold };
template <>
inline constexpr auto kNames<PageCache> = names_until(PageCache::cold, "warm", "cold");

enum class Codec { jpeg };
template <>
inline constexpr auto kNames<Codec> = names_until(Codec::jpeg, "jpeg");

/// The values that a point may have, in the order in which points are measured and reports and
/// messages list them: all of them, unless a line below says otherwise.
template <class E>
inline constexpr auto kMeasured = [] {
  std::array<E, kNames<E>.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = kNames<E>[i].second;
  return all;
}();
/// Types that GPU programs measure products in; tables of others have nvfp4, too.
inline constexpr std::array kBenchmarked{Precision::bf16, Precision::fp16, Precision::tf32,
                                         Precision::fp32, Precision::fp8};
template <>
inline constexpr std::array kMeasured<Precision>{Precision::bf16, Precision::fp16,
                                                 Precision::tf32, Precision::fp32,
                                                 Precision::fp8,  Precision::nvfp4};
/// No GPU program measures a `reduce` alone: no layer of a training waits for one.
template <>
inline constexpr std::array kMeasured<CollectiveOp>{
    CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
    CollectiveOp::broadcast,  CollectiveOp::all_to_all, CollectiveOp::shift};

template <class E>
std::vector<std::string> measured_names() {
  std::vector<std::string> names;
  for (const E value : kMeasured<E>) names.push_back(name_of(value));
  return names;
}

/// Nothing when no point may have such a word.
template <class E>
std::optional<E> find_measured(std::string_view text) {
  for (const E value : kMeasured<E>)
    if (name_of(value) == text) return value;
  return {};
}

/// Sorts precisions as they are measured.
struct MeasuredOrder {
  bool operator()(Precision a, Precision b) const { return place_of(a) < place_of(b); }
  static std::size_t place_of(Precision precision) {
    std::size_t place = 0;
    while (kMeasured<Precision>[place] != precision) ++place;
    return place;
  }
};

}  // namespace stepsim
