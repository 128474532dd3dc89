// Measures kernels that move bytes.
#include <vector>

#include "calib/cuda/device.hpp"
#include "calib/cuda/handles.hpp"
#include "calib/cuda/kernels.hpp"
#include "calib/cuda/measure.hpp"
#include "calib/cuda/stopwatch.hpp"
#include "calib/harness/repetition.hpp"
#include "sim/calibrate/measurement/memory_bytes.hpp"

namespace stepsim::calib::cuda {
namespace {

/// A set of buffers: the point's tensors, four at most, in one piece of memory.
struct Set {
  std::int64_t elements, tensor_bytes;
  int tensors;
  std::int64_t bytes() const { return tensors * tensor_bytes; }
};

/// The layout of a set: each tensor is a multiple of 256 bytes, and a mask is no larger than a
/// tensor.
Set set_of(const MemoryOpPoint& point) {
  const std::int64_t elements = point.rows * point.columns;
  const std::int64_t bytes = (elements * element_bytes(point.dtype) + 255) / 256 * 256;
  const bool four = point.op == MemoryOp::adam;
  const bool three = point.op == MemoryOp::add || point.op == MemoryOp::dropout;
  return {elements, bytes, four ? 4 : three ? 3 : 2};
}

MemoryBuffers place(const MemoryOpPoint& point, const Set& set, char* memory) {
  const auto tensor = [&](int index) { return memory + index * set.tensor_bytes; };
  MemoryBuffers buffers;
  if (point.op == MemoryOp::adam) {
    buffers.parameter = tensor(0);
    buffers.gradient = tensor(1);
    buffers.first_moment = tensor(2);
    buffers.second_moment = tensor(3);
    return buffers;
  }
  buffers.in = tensor(0);
  buffers.out = tensor(1);
  if (point.op == MemoryOp::add) buffers.second = tensor(2);
  if (point.op == MemoryOp::dropout) buffers.mask = tensor(2);
  return buffers;
}

void fill(const MemoryOpPoint& point, const Set& set, const MemoryBuffers& buffers,
          std::uint64_t seed) {
  for (void* tensor :
       {buffers.in, buffers.second, buffers.parameter, buffers.gradient, buffers.first_moment})
    if (tensor != nullptr) fill_random(tensor, point.dtype, set.elements, seed++, nullptr);
  // the second moment is a mean of squares, so that it is not negative
  if (buffers.second_moment != nullptr)
    check(cudaMemset(buffers.second_moment, 0, static_cast<std::size_t>(set.tensor_bytes)),
          "cudaMemset");
}

}  // namespace

Measured measure_memory(const MemoryOpPoint& point, const DeviceFacts& device) {
  const Set set = set_of(point);
  StopwatchSettings settings;
  settings.turns = turns_for(set.bytes(), device.l2_bytes, free_memory());
  const DeviceBuffer memory(static_cast<std::size_t>(settings.turns * set.bytes()));
  std::vector<MemoryBuffers> turns;
  for (int turn = 0; turn < settings.turns; ++turn) {
    turns.push_back(place(point, set, memory.data() + turn * set.bytes()));
    fill(point, set, turns.back(), static_cast<std::uint64_t>(5 * turn));
  }
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  Measured measured;
  measured.timing = time_batch(
      [&](cudaStream_t stream, int count) {
        for (int i = 0; i < count; ++i) {
          const MemoryBuffers& buffers = turns[static_cast<std::size_t>(i) % turns.size()];
          launch_memory(point.op, point.dtype, buffers, point.rows, point.columns, stream);
        }
      },
      settings);
  return measured;
}

}  // namespace stepsim::calib::cuda
