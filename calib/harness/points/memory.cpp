// Kernels that move bytes, from those that a launch outlasts to those that stream from memory.
#include "calib/harness/points.hpp"
#include "sim/calibrate/measurement/memory_bytes.hpp"

namespace stepsim::calib {
namespace {

MemoryOpPoint memory_point(MemoryOp op, Precision dtype, std::int64_t rows, std::int64_t columns) {
  return {op, dtype, rows, columns, memory_bytes(op, dtype, rows, columns)};
}

/// Adds sizes from 16 thousand to half a billion elements, in rows as wide as hidden states.
void add_sizes(std::vector<Point>& points, MemoryOp op, Precision dtype, std::int64_t columns) {
  for (std::int64_t elements = std::int64_t{1} << 14; elements <= std::int64_t{1} << 29;
       elements *= 4) {
    if (elements >= columns) points.push_back(memory_point(op, dtype, elements / columns, columns));
  }
}

}  // namespace

std::vector<Point> memory_points() {
  std::vector<Point> points;
  for (const MemoryOp op : {MemoryOp::copy, MemoryOp::add, MemoryOp::sum, MemoryOp::dropout})
    for (const Precision dtype : {Precision::bf16, Precision::fp32})
      add_sizes(points, op, dtype, 4096);
  for (const MemoryOp op : {MemoryOp::norm, MemoryOp::softmax})
    for (const Precision dtype : {Precision::bf16, Precision::fp32})
      for (const std::int64_t columns : {1024, 4096, 8192}) add_sizes(points, op, dtype, columns);
  for (const std::int64_t rows : {512, 2048, 8192})
    for (const std::int64_t vocabulary : {32000, 50304, 128256})
      points.push_back(memory_point(MemoryOp::cross_entropy, Precision::bf16, rows, vocabulary));
  add_sizes(points, MemoryOp::adam, Precision::fp32, 4096);
  return points;
}

}  // namespace stepsim::calib
