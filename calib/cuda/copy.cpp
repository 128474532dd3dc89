// Measures copies between host and GPU: pinned memory by the GPU's clock, pageable memory by the
// host's, because the host takes part in such copies.
#include <algorithm>
#include <cstring>
#include <vector>

#include "calib/cuda/handles.hpp"
#include "calib/cuda/measure.hpp"
#include "calib/cuda/stopwatch.hpp"
#include "calib/harness/budget.hpp"
#include "calib/harness/repetition.hpp"

namespace stepsim::calib::cuda {
namespace {

Timing time_one_way(Direction direction, std::size_t bytes) {
  const DeviceBuffer device(bytes);
  const PinnedBuffer host(bytes);
  std::memset(host.data(), 1, bytes);
  const bool in = direction == Direction::h2d;
  StopwatchSettings settings;
  settings.through = Through::launches;
  return time_batch(
      [&](cudaStream_t stream, int count) {
        for (int i = 0; i < count; ++i)
          check(
              cudaMemcpyAsync(in ? device.data() : host.data(), in ? host.data() : device.data(),
                              bytes, in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream),
              "cudaMemcpyAsync");
      },
      settings);
}

/// Times copies in both directions at once. A second stream has the copies back; the first waits
/// for it at the end of a batch.
Timing time_both_ways(std::size_t bytes) {
  const DeviceBuffer to(bytes), from(bytes);
  const PinnedBuffer source(bytes), target(bytes);
  std::memset(source.data(), 1, bytes);
  const Stream back;
  const Event begin, end;
  StopwatchSettings settings;
  settings.through = Through::launches;
  return time_batch(
      [&](cudaStream_t stream, int count) {
        begin.record(stream);
        wait_for(back, begin);
        for (int i = 0; i < count; ++i) {
          check(cudaMemcpyAsync(to.data(), source.data(), bytes, cudaMemcpyHostToDevice, stream),
                "cudaMemcpyAsync");
          check(cudaMemcpyAsync(target.data(), from.data(), bytes, cudaMemcpyDeviceToHost, back),
                "cudaMemcpyAsync");
        }
        end.record(back);
        wait_for(stream, end);
      },
      settings);
}

Timing time_pageable(Direction direction, std::size_t bytes) {
  const DeviceBuffer device(bytes);
  std::vector<char> host(bytes, 1);
  const Stream stream;
  const Budget::Clock now = Budget::steady_clock();
  const auto copy = [&] {
    const bool in = direction == Direction::h2d;
    check(cudaMemcpyAsync(in ? device.data() : host.data(), in ? host.data() : device.data(), bytes,
                          in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream),
          "cudaMemcpyAsync");
    stream.wait();
  };
  copy();
  const double begin = now();
  copy();
  // Each copy is a sample; `inner` only says how many copies last a millisecond.
  const Repetition repetition = repetition_for(now() - begin, 1);
  std::vector<double> seconds;
  for (int i = 0; i < std::min(repetition.inner * repetition.repeats, 500); ++i) {
    const double start = now();
    copy();
    seconds.push_back(now() - start);
  }
  return summarise(seconds);
}

}  // namespace

Measured measure_copy(const CopyPoint& point) {
  const auto bytes = static_cast<std::size_t>(point.bytes);
  Measured measured;
  if (point.host == HostMemory::pageable) {
    measured.timing = time_pageable(point.direction, bytes);
  } else if (point.direction == Direction::both) {
    measured.timing = time_both_ways(bytes);
  } else {
    measured.timing = time_one_way(point.direction, bytes);
  }
  return measured;
}

}  // namespace stepsim::calib::cuda
