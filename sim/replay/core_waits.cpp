// Finds pauses of a core in which collectives end.
#include "sim/replay/core_waits.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "sim/recording/core_device.hpp"
#include "sim/recording/marks.hpp"
#include "sim/replay/handovers.hpp"

namespace stepsim {
namespace {

/// When the core does nothing, without what its loader and handing over collectives take.
IntervalSet pauses_of(const Recording& recording, Interval window, std::uint32_t thread) {
  std::vector<Interval> busy;
  for (const GpuActivity& activity : recording.activities) {
    if (activity.stream == kStreamOfCore) busy.push_back(activity.time);
  }
  for (const HostEvent& event : recording.threads[thread].events) {
    const std::string& name = recording.name_of(event);
    if (marks_loader(name) || name.starts_with("c10d::")) busy.push_back(event.time);
  }
  IntervalSet pauses = difference({window}, united(std::move(busy)));
  std::erase_if(pauses, [](const Interval& pause) { return pause.length() < kShortestPause; });
  return pauses;
}

/// The work that ended last within the pause, if it was handed over before.
std::optional<QueuePlace> last_ended_in(const GpuQueues& queues, Interval pause) {
  std::optional<QueuePlace> last;
  Nanoseconds latest = pause.start;
  for (std::uint32_t s = 0; s < queues.size(); ++s) {
    const auto ended = last_ended(queues[s], pause.end);
    if (!ended || queues[s][*ended].given_by > pause.start) continue;
    if (queues[s][*ended].end <= latest) continue;
    latest = queues[s][*ended].end;
    last = {s, *ended};
  }
  return last;
}

/// The event that begins last until then, or the first of the thread.
std::uint32_t event_at(const std::vector<HostEvent>& events, Nanoseconds moment) {
  const auto next =
      std::ranges::upper_bound(events, moment, {}, [](const HostEvent& e) { return e.time.start; });
  auto found = static_cast<std::uint32_t>(next - events.begin());
  if (found > 0) --found;
  return found;
}

}  // namespace

std::vector<GpuWait> core_waits(const Recording& recording, const GpuQueues& queues,
                                Interval window, std::uint32_t thread) {
  std::vector<GpuWait> waits;
  for (const Interval& at : pauses_of(recording, window, thread)) {
    const Interval pause{at.start - window.start, at.end - window.start};
    const auto work = last_ended_in(queues, pause);
    if (!work) continue;
    const Nanoseconds end = queues[work->stream][work->index].end;
    waits.push_back({.call = {thread, event_at(recording.threads[thread].events, at.start)},
                     .time = {pause.start, end},
                     .works = {*work},
                     .left = pause.end - end});
  }
  return waits;
}

}  // namespace stepsim
