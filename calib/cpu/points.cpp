// Shapes of small trainings: what a core computes in milliseconds.
#include "calib/cpu/points.hpp"

#include <algorithm>

#include "calib/harness/points.hpp"
#include "sim/calibrate/measurement/memory_bytes.hpp"

namespace stepsim::cpu {
namespace {

using namespace calib;

using Points = std::vector<Point>;

/// Adds the forward pass and the two gradients of a linear layer; weight gradients are added up.
void add_passes(Points& points, std::int64_t tokens, std::int64_t out, std::int64_t in) {
  points.push_back(GemmPoint{Precision::fp32, Transpose::TN, tokens, out, in});
  points.push_back(GemmPoint{Precision::fp32, Transpose::NN, tokens, in, out});
  points.push_back(GemmPoint{Precision::fp32, Transpose::NT, out, in, tokens, 1, true});
}

Points gemms() {
  Points points;
  for (const std::int64_t width : {256, 512, 1024, 2048})
    for (const std::int64_t tokens : {8, 32, 128, 512}) {
      if (width * tokens <= 2048 * 128) add_passes(points, tokens, width, width);
    }
  // Layers of a small transformer.
  for (const std::int64_t hidden : {256, 512}) {
    add_passes(points, 256, 4 * hidden, hidden);
    add_passes(points, 256, hidden, 4 * hidden);
    add_passes(points, 64, 3 * hidden, hidden);
  }
  return points;
}

/// Kernels over tensors of 64 KiB to 16 MiB.
Points memory_kernels() {
  Points points;
  for (const MemoryOp op :
       {MemoryOp::copy, MemoryOp::add, MemoryOp::relu, MemoryOp::squared_error, MemoryOp::adam})
    for (std::int64_t rows = 16; rows <= 4096; rows *= 4)
      points.push_back(MemoryOpPoint{op, Precision::fp32, rows, 1024,
                                     memory_bytes(op, Precision::fp32, rows, 1024)});
  return points;
}

Points collectives(int ranks) {
  Points points;
  for (std::int64_t bytes = 1024; bytes <= std::int64_t{64} << 20; bytes *= 4)
    points.push_back(CollectivePoint{CollectiveOp::all_reduce, Precision::fp32, ranks, bytes});
  return points;
}

Points overlaps(int ranks, std::int64_t bytes) {
  const std::int64_t tensor = std::min(std::int64_t{16} << 20, bytes / 4);
  return {OverlapPoint{Activity::gemm, Activity::all_reduce, Precision::fp32, 64, 1024, 1024,
                       tensor, ranks},
          OverlapPoint{Activity::all_reduce, Activity::gemm, Precision::fp32, 64, 1024, 1024,
                       tensor, ranks}};
}

Points file_reads() {
  Points points;
  for (const std::int64_t bytes :
       {std::int64_t{16} << 10, std::int64_t{128} << 10, std::int64_t{1} << 20})
    points.push_back(FileReadPoint{PageCache::warm, bytes});
  return points;
}

Points decodings() { return {DecodePoint{Codec::jpeg, 320, 240}}; }

}  // namespace

std::vector<Point> points_for(int ranks, std::int64_t bytes) {
  std::vector<Points> lists{gemms(), memory_kernels(), file_reads(), decodings()};
  if (ranks > 1) {
    lists.push_back(collectives(ranks));
    lists.push_back(overlaps(ranks, bytes));
  }
  return interleave(std::move(lists));
}

}  // namespace stepsim::cpu
