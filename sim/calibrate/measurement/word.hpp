// Words of the measurement format: an enumeration and its names, in both directions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim::calib {

/// What a record measures; each kind has a struct in point.hpp.
enum class Kind {
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
/// `fp8` is E4M3.
enum class Dtype { bf16, fp16, tf32, fp32, fp8 };
/// How C[m,n] = A[m,k] B[k,n] lies in memory, rows first: in a linear layer TN is the forward
/// pass (weights stored as [n,k]), NN the gradient of the input, NT that of the weights, in the
/// order of Transformer Engine (transformer_engine/common/include/transformer_engine/gemm.h).
enum class Transpose { TN, NN, NT };
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
enum class AttentionPass { forward, backward };
/// Of a convolution: its output, or the gradient of its input or of its weights.
enum class ConvolutionPart { forward, input_gradient, weight_gradient };
/// As profiles call them; flash4 is FlashAttention's kernel for Blackwell.
enum class AttentionKernel { cudnn, flash1, flash2, flash3, flash4 };
/// Where a launch's time is spent: on the GPU in a stream or a graph, on the host, or there and
/// back again.
enum class LaunchCost { stream, graph, host, round_trip };
/// `both`: host to device and back at the same time, as many bytes in either direction.
enum class Direction { h2d, d2h, both };
enum class HostMemory { pinned, pageable };
/// What runs while something else runs.
enum class Activity { gemm, h2d, d2h, d2d, all_reduce };
/// Whether a file was read before, or has to come from where it is stored.
enum class PageCache { warm, cold };
enum class Codec { jpeg };
enum class Collective { all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, shift };

template <class E>
struct Names;
template <>
struct Names<Kind> {
  static constexpr const char* all[] = {"gemm",      "memory", "attention",  "launch",
                                        "queue",     "copy",   "overlap",    "collective",
                                        "file_read", "decode", "convolution"};
};
template <>
struct Names<Dtype> {
  static constexpr const char* all[] = {"bf16", "fp16", "tf32", "fp32", "fp8"};
};
template <>
struct Names<Transpose> {
  static constexpr const char* all[] = {"TN", "NN", "NT"};
};
template <>
struct Names<MemoryOp> {
  static constexpr const char* all[] = {"copy",    "add",          "sum",           "norm",
                                        "softmax", "dropout",      "cross_entropy", "adam",
                                        "relu",    "squared_error"};
};
template <>
struct Names<AttentionPass> {
  static constexpr const char* all[] = {"forward", "backward"};
};
template <>
struct Names<ConvolutionPart> {
  static constexpr const char* all[] = {"forward", "input_gradient", "weight_gradient"};
};
template <>
struct Names<AttentionKernel> {
  static constexpr const char* all[] = {"cudnn", "flash1", "flash2", "flash3", "flash4"};
};
template <>
struct Names<LaunchCost> {
  static constexpr const char* all[] = {"stream", "graph", "host", "round_trip"};
};
template <>
struct Names<Direction> {
  static constexpr const char* all[] = {"h2d", "d2h", "both"};
};
template <>
struct Names<HostMemory> {
  static constexpr const char* all[] = {"pinned", "pageable"};
};
template <>
struct Names<Activity> {
  static constexpr const char* all[] = {"gemm", "h2d", "d2h", "d2d", "all_reduce"};
};
template <>
struct Names<PageCache> {
  static constexpr const char* all[] = {"warm", "cold"};
};
template <>
struct Names<Codec> {
  static constexpr const char* all[] = {"jpeg"};
};
template <>
struct Names<Collective> {
  static constexpr const char* all[] = {"all_reduce", "all_gather", "reduce_scatter",
                                        "broadcast",  "all_to_all", "shift"};
};

/// Whether each of the enumeration's values has a name; `last` is its last one.
template <class E>
constexpr bool all_are_named(E last) {
  return std::size(Names<E>::all) == static_cast<std::size_t>(last) + 1;
}
static_assert(all_are_named(Kind::convolution));
static_assert(all_are_named(Dtype::fp8));
static_assert(all_are_named(Transpose::NT));
static_assert(all_are_named(MemoryOp::squared_error));
static_assert(all_are_named(AttentionPass::backward));
static_assert(all_are_named(ConvolutionPart::weight_gradient));
static_assert(all_are_named(AttentionKernel::flash4));
static_assert(all_are_named(LaunchCost::round_trip));
static_assert(all_are_named(Direction::both));
static_assert(all_are_named(HostMemory::pageable));
static_assert(all_are_named(Activity::all_reduce));
static_assert(all_are_named(PageCache::cold));
static_assert(all_are_named(Codec::jpeg));
static_assert(all_are_named(Collective::shift));

template <class E>
const char* name_of(E value) {
  return Names<E>::all[static_cast<std::size_t>(value)];
}

template <class E>
std::vector<std::string> names() {
  return {std::begin(Names<E>::all), std::end(Names<E>::all)};
}

/// Nothing when there is no such word.
template <class E>
std::optional<E> find_word(std::string_view text) {
  const auto* found = std::find(std::begin(Names<E>::all), std::end(Names<E>::all), text);
  if (found == std::end(Names<E>::all)) return {};
  return static_cast<E>(found - std::begin(Names<E>::all));
}

}  // namespace stepsim::calib
