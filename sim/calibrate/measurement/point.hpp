// A point: one thing to measure, with all that tells it from the others.
//
// Each struct declares its fields once, in `each_field`; the file's columns, the identity of a
// point and its label follow from that. What a field may hold and what a table need not say of it
// is in read_record.cpp (bounds, `kDefaults`) and in `is_optional`. Sizes are in bytes or elements
// as their names say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "sim/calibrate/measurement/point_words.hpp"

namespace stepsim {

/// C[m,n] = A[m,k] B[k,n], `batch` times in one kernel.
struct GemmPoint {
  static constexpr PointKind kKind = PointKind::gemm;
  Precision dtype = Precision::bf16;
  Transpose transpose = Transpose::TN;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  bool accumulate = false;  ///< C is fp32 and added to, as by fused gradient accumulation
  bool sustained = false;   ///< after seconds of the same kernel, when the clock has settled
  /// Memory traffic that quantising A to fp8 adds to the time, for each of its elements.
  std::int64_t quantised_bytes = 0;

  template <class Self, class F>
  static void each_field(Self& self, F&& field) {
    field("dtype", self.dtype);
    field("transpose", self.transpose);
    field("m", self.m);
    field("n", self.n);
    field("k", self.k);
    field("batch", self.batch);
    field("accumulate", self.accumulate);
    field("sustained", self.sustained);
    field("quantised_bytes", self.quantised_bytes);
  }
};

/// A kernel that moves bytes: `bytes` are those that it has to read and write.
struct MemoryOpPoint {
  static constexpr PointKind kKind = PointKind::memory;
  MemoryOp op = MemoryOp::copy;
  Precision dtype = Precision::bf16;
  std::int64_t rows = 0, columns = 0, bytes = 0;

  template <class Self, class F>
  static void each_field(Self& self, F&& field) {
    field("op", self.op);
    field("dtype", self.dtype);
    field("rows", self.rows);
    field("columns", self.columns);
    field("bytes", self.bytes);
  }
};

/// Fused attention of `batch` sequences; grouped queries where kv_heads < heads.
struct AttentionPoint {
  static constexpr PointKind kKind = PointKind::attention;
  Precision dtype = Precision::bf16;
  AttentionPass pass = AttentionPass::forward;
  bool causal = true;
  std::int64_t batch = 0, heads = 0, kv_heads = 0, sequence = 0, head_dim = 0;
  AttentionKernel kernel = AttentionKernel::cudnn;
  bool cache_write = false;  ///< timed with the write of keys and values into a cache

  template <class Self, class F>
  static void each_field(Self& self, F&& field) {
    field("kernel", self.kernel);
    field("dtype", self.dtype);
    field("pass", self.pass);
    field("causal", self.causal);
    field("batch", self.batch);
    field("heads", self.heads);
    field("kv_heads", self.kv_heads);
    field("sequence", self.sequence);
    field("head_dim", self.head_dim);
    field("cache_write", self.cache_write);
  }
};

/// An empty kernel.
struct LaunchPoint {
  static constexpr PointKind kKind = PointKind::launch;
  LaunchCost cost = LaunchCost::stream;

  template <class Self, class F>
  static void each_field(Self& self, F&& field) {
    field("cost", self.cost);
  }
};

/// How many launches fit behind a long kernel until the host has to wait.
struct QueuePoint {
  static constexpr PointKind kKind = PointKind::queue;

  template <class Self, class F>
  static void each_field(Self&, F&&) {}
};

/// Between the host's memory and the GPU's.
struct CopyPoint {
  static constexpr PointKind kKind = PointKind::copy;
  Direction direction = Direction::h2d;
  HostMemory host = HostMemory::pinned;
  std::int64_t bytes = 0;

  template <class Self, class F>
  static void each_field(Self& self, F&& field) {
    field("direction", self.direction);
    field("host", self.host);
    field("bytes", self.bytes);
  }
};

/// How much slower `timed` is while `beside` runs. The GEMM among them is m x n x k, TN.
struct OverlapPoint {
  static constexpr PointKind kKind = PointKind::overlap;
  Activity timed = Activity::gemm, beside = Activity::h2d;
  Precision dtype = Precision::bf16;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t bytes = 0;  ///< size of the copy or collective
  std::int64_t gpus = 1;

  template <class Self, class F>
  static void each_field(Self& self, F&& field) {
    field("timed", self.timed);
    field("beside", self.beside);
    field("dtype", self.dtype);
    field("m", self.m);
    field("n", self.n);
    field("k", self.k);
    field("bytes", self.bytes);
    field("gpus", self.gpus);
  }
};

/// A collective among GPUs. `bytes` are those of the whole tensor, as in nccl-tests.
struct CollectivePoint {
  static constexpr PointKind kKind = PointKind::collective;
  CollectiveOp op = CollectiveOp::all_reduce;
  Precision dtype = Precision::bf16;
  std::int64_t gpus = 0, bytes = 0;
  std::int64_t nodes = 0;  ///< that the GPUs are on, as many on each; 0 and 1: one

  bool is_between_nodes() const { return nodes > 1; }

  template <class Self, class F>
  static void each_field(Self& self, F&& field) {
    field("op", self.op);
    field("dtype", self.dtype);
    field("gpus", self.gpus);
    field("bytes", self.bytes);
    field("nodes", self.nodes);
  }
};

/// A whole file, opened and read by one thread.
struct FileReadPoint {
  static constexpr PointKind kKind = PointKind::file_read;
  PageCache cache = PageCache::warm;
  std::int64_t bytes = 0;

  template <class Self, class F>
  static void each_field(Self& self, F&& field) {
    field("cache", self.cache);
    field("bytes", self.bytes);
  }
};

/// A picture of so many pixels from its file in memory, by one thread.
struct DecodePoint {
  static constexpr PointKind kKind = PointKind::decode;
  Codec codec = Codec::jpeg;
  std::int64_t width = 0, height = 0;

  template <class Self, class F>
  static void each_field(Self& self, F&& field) {
    field("codec", self.codec);
    field("width", self.width);
    field("height", self.height);
  }
};

/// `batch` images of height x width pixels, padded by `pad` on all sides, under `filters` filters.
struct ConvolutionPoint {
  static constexpr PointKind kKind = PointKind::convolution;
  Precision dtype = Precision::fp16;
  ConvolutionPass pass = ConvolutionPass::forward;
  std::int64_t batch = 0, channels = 0, height = 0, width = 0;
  std::int64_t filters = 0, filter_height = 0, filter_width = 0;
  std::int64_t stride = 1, pad = 0;

  std::int64_t out_height() const { return (height + 2 * pad - filter_height) / stride + 1; }
  std::int64_t out_width() const { return (width + 2 * pad - filter_width) / stride + 1; }

  template <class Self, class F>
  static void each_field(Self& self, F&& field) {
    field("dtype", self.dtype);
    field("pass", self.pass);
    field("batch", self.batch);
    field("channels", self.channels);
    field("height", self.height);
    field("width", self.width);
    field("filters", self.filters);
    field("filter_height", self.filter_height);
    field("filter_width", self.filter_width);
    field("stride", self.stride);
    field("pad", self.pad);
  }
};

/// In the order of `PointKind`.
using Point =
    std::variant<GemmPoint, MemoryOpPoint, AttentionPoint, LaunchPoint, QueuePoint, CopyPoint,
                 OverlapPoint, CollectivePoint, FileReadPoint, DecodePoint, ConvolutionPoint>;

template <std::size_t... i>
constexpr bool are_in_order_of_kind(std::index_sequence<i...>) {
  return ((std::variant_alternative_t<i, Point>::kKind == static_cast<PointKind>(i)) && ...);
}
static_assert(std::variant_size_v<Point> == kNames<PointKind>.size());
static_assert(are_in_order_of_kind(std::make_index_sequence<std::variant_size_v<Point>>{}));

PointKind kind_of(const Point& point);

/// A point of that kind whose fields are still to be set.
Point blank_point(PointKind kind);

/// Calls `field(name, value)` for each field in the order of the file; value is a reference to
/// std::int64_t, bool or one of the enumerations of point_words.hpp.
template <class PointOrConst, class F>
void for_each_field(PointOrConst& point, F&& field) {
  std::visit([&](auto& self) { std::decay_t<decltype(self)>::each_field(self, field); }, point);
}

/// Fields that hardly any benchmark has: a file leaves them out, and then they are false or 0.
constexpr bool is_optional(std::string_view field) {
  return field == "cache_write" || field == "quantised_bytes" || field == "nodes";
}

/// As `for_each_field`, without the optional ones that are false or 0.
template <class F>
void for_each_told_field(const Point& point, F&& field) {
  for_each_field(point, [&](const char* name, const auto& value) {
    if (!is_optional(name) || value != std::decay_t<decltype(value)>{}) field(name, value);
  });
}

/// "gemm dtype=bf16 transpose=TN m=4096 ...": equal for equal points and only for those.
std::string identity(const Point& point);

}  // namespace stepsim
