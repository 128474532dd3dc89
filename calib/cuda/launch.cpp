// Measures what launches cost, and how many of them the queue holds.
#include <algorithm>
#include <vector>

#include "calib/cuda/handles.hpp"
#include "calib/cuda/kernels.hpp"
#include "calib/cuda/measure.hpp"
#include "calib/cuda/stopwatch.hpp"
#include "calib/harness/budget.hpp"
#include "calib/harness/not_offered.hpp"

namespace stepsim::calib::cuda {
namespace {

/// Launches in a row: fewer than any driver's queue holds, so that the host does not wait for the
/// GPU.
constexpr int kRow = 200;
constexpr int kSamples = 50;

void launch_row(cudaStream_t stream, int count) {
  for (int i = 0; i < count; ++i) launch_empty(stream);
}

/// Times `work` by the host's clock over and over; each sample is divided by `count`.
template <class Work>
Timing time_on_host(const Stream& stream, int count, Work work) {
  const Budget::Clock now = Budget::steady_clock();
  std::vector<double> seconds;
  for (int i = -1; i < kSamples; ++i) {
    stream.wait();
    const double begin = now();
    work();
    if (i >= 0) seconds.push_back((now() - begin) / count);  // the first sample warms up
  }
  stream.wait();
  return summarise(seconds);
}

Timing time_launch(LaunchCost cost) {
  if (cost == LaunchCost::stream || cost == LaunchCost::graph) {
    StopwatchSettings settings;
    settings.through = cost == LaunchCost::graph ? Through::graph : Through::launches;
    return time_batch(launch_row, settings);
  }
  const Stream stream;
  if (cost == LaunchCost::host)
    return time_on_host(stream, kRow, [&] { launch_row(stream, kRow); });
  return time_on_host(stream, 1, [&] {
    launch_empty(stream);
    stream.wait();
  });
}

/// Counts launches until the host has to wait. They queue behind a kernel that keeps the GPU for so
/// long that waiting for it is told from a mere interruption.
int launches_until_blocked(const Stream& stream) {
  constexpr double kBusy = 0.5, kBlocked = 0.1;
  constexpr int kMost = 50'000;
  const Budget::Clock now = Budget::steady_clock();
  launch_wait(kBusy, stream);
  for (int launches = 0; launches < kMost; ++launches) {
    const double begin = now();
    launch_empty(stream);
    if (now() - begin > kBlocked) return launches;
  }
  throw NotOffered("the host did not have to wait for the GPU");
}

}  // namespace

Measured measure_launch(const LaunchPoint& point) {
  Measured measured;
  measured.timing = time_launch(point.cost);
  return measured;
}

Measured measure_queue() {
  // the largest count wins: an interrupted host sees a shorter queue, never a longer one
  constexpr int kTries = 3;
  const Stream stream;
  launch_row(stream, 1);
  Measured measured;
  for (int i = 0; i < kTries; ++i) {
    stream.wait();
    const int launches = launches_until_blocked(stream);
    measured.launches = std::max<std::int64_t>(measured.launches.value_or(0), launches);
  }
  stream.wait();
  return measured;
}

}  // namespace stepsim::calib::cuda
