// Sorts a recording's activities into queues.
#include "sim/replay/gpu_queues.hpp"

#include <algorithm>
#include <map>

#include "sim/recording/core_device.hpp"

namespace stepsim {
namespace {

bool belongs(const GpuActivity& activity, std::optional<Nanoseconds> call, Interval window) {
  if (call && *call >= window.start) return *call < window.end;
  return activity.time.end > window.start && activity.time.start < window.end;
}

void append(GpuQueue& queue, QueuedWork work) {
  Nanoseconds free = 0, given = work.launched.value_or(0);
  if (!queue.empty()) {
    free = queue.back().end;
    given = std::max(given, queue.back().given_by);
  }
  work.start = std::max({work.start, free, work.launched.value_or(0)});
  work.end = std::max(work.end, work.start);
  work.given_by = given;
  queue.push_back(work);
}

std::optional<std::uint32_t> last_of(std::ptrdiff_t count) {
  if (count == 0) return std::nullopt;
  return static_cast<std::uint32_t>(count - 1);
}

}  // namespace

GpuQueues queues_of(const Recording& recording, Interval window) {
  std::map<std::int32_t, GpuQueue> by_stream;
  for (std::size_t i = 0; i < recording.activities.size(); ++i) {
    const GpuActivity& activity = recording.activities[i];
    if (recording.is_of_core && activity.stream == kStreamOfCore) continue;
    std::optional<Nanoseconds> call;
    if (activity.launch) call = recording.at(*activity.launch).time.start;
    if (!belongs(activity, call, window)) continue;
    QueuedWork work{.activity = i,
                    .start = activity.time.start - window.start,
                    .end = activity.time.end - window.start};
    if (call && *call >= window.start) {
      work.launched = *call - window.start;
      work.call = activity.launch;
    }
    append(by_stream[activity.stream], work);
  }
  GpuQueues queues;
  for (auto& [stream, queue] : by_stream) queues.push_back(std::move(queue));
  return queues;
}

std::optional<std::uint32_t> last_given(const GpuQueue& queue, Nanoseconds before) {
  return last_of(std::ranges::lower_bound(queue, before, {}, &QueuedWork::given_by) -
                 queue.begin());
}

std::optional<std::uint32_t> last_ended(const GpuQueue& queue, Nanoseconds at) {
  return last_of(std::ranges::upper_bound(queue, at, {}, &QueuedWork::end) - queue.begin());
}

}  // namespace stepsim
