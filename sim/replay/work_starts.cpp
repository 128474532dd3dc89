// Tells starts of the GPU's work apart.
#include "sim/replay/work_starts.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "sim/recording/median.hpp"

namespace stepsim {
namespace {

/// From one kernel to the next that waits for it: the median is 0 to 4 us in 16 recordings of V100
/// to H800 and MI300X, and in those with one stream 99 % are below 5 us.
constexpr Nanoseconds kFollows = 8'000;
/// From a launch call to the kernel on an idle stream: the medians are 6 to 33 us in 14 recordings,
/// and where no events or graphs delay kernels, 99 % are below 50 us.
constexpr Nanoseconds kLongestLatency = 50'000;
/// From the end of work on one stream to work that waited for it on another: up to 19 us in
/// recordings of V100 and A100 with NCCL 2.10, 8 to 19 us in those of MI300X.
constexpr Nanoseconds kCrosses = 25'000;

using Calls = std::set<std::pair<std::uint32_t, std::uint32_t>>;

/// Launch calls before which their thread made the stream wait for an event.
Calls calls_behind_events(const Recording& recording, const GpuQueues& queues) {
  Calls launches, behind;
  for (const GpuQueue& queue : queues) {
    for (const QueuedWork& work : queue) {
      if (work.call) launches.emplace(work.call->thread, work.call->event);
    }
  }
  std::uint32_t thread = 0;
  std::uint32_t from = 0;
  for (const auto& launch : launches) {
    if (std::exchange(thread, launch.first) != launch.first) from = 0;
    const auto& events = recording.threads[launch.first].events;
    for (; from < launch.second; ++from) {
      if (events[from].work == HostWork::runtime &&
          recording.name_of(events[from]).find("StreamWaitEvent") != std::string::npos)
        behind.insert(launch);
    }
  }
  return behind;
}

class StartReader {
 public:
  StartReader(const Recording& recording, Interval window, const GpuQueues& queues)
      : recording_(recording),
        window_(window),
        queues_(queues),
        behind_events_(calls_behind_events(recording, queues)) {
    usual();
  }

  std::vector<std::vector<WorkStart>> read() const {
    std::vector<std::vector<WorkStart>> starts(queues_.size());
    for (std::uint32_t s = 0; s < queues_.size(); ++s) {
      for (std::uint32_t i = 0; i < queues_[s].size(); ++i) starts[s].push_back(read({s, i}));
    }
    return starts;
  }

 private:
  /// The latency of launches on an idle stream, and the gap between kernels in a busy one.
  void usual() {
    std::vector<Nanoseconds> idle, gaps;
    for (const GpuQueue& queue : queues_) {
      for (std::size_t i = 0; i < queue.size(); ++i) {
        const Nanoseconds free = i == 0 ? 0 : queue[i - 1].end;
        if (!queue[i].launched || free > *queue[i].launched || is_behind_event(queue[i])) continue;
        const Nanoseconds latency = queue[i].start - *queue[i].launched;
        if (latency <= kLongestLatency) idle.push_back(latency);
      }
    }
    latency_ = median(std::move(idle));
    for (const GpuQueue& queue : queues_) {
      for (std::size_t i = 1; i < queue.size(); ++i) {
        const Nanoseconds gap = queue[i].start - queue[i - 1].end;
        const bool waits = queue[i].launched && *queue[i].launched + latency_ <= queue[i - 1].end;
        if (waits && gap <= kFollows) gaps.push_back(gap);
      }
    }
    gap_ = median(std::move(gaps));
  }

  const QueuedWork& at(QueuePlace place) const { return queues_[place.stream][place.index]; }

  /// The last work of each other stream that had ended when this one began.
  std::vector<QueuePlace> before(QueuePlace place) const {
    std::vector<QueuePlace> found;
    for (std::uint32_t s = 0; s < queues_.size(); ++s) {
      if (s == place.stream) continue;
      const auto last = last_ended(queues_[s], at(place).start);
      if (last) found.push_back({s, *last});
    }
    return found;
  }

  /// Works of other streams that were launched before this one: an event lies behind what its
  /// stream had been given.
  std::vector<QueuePlace> launched_before(const QueuedWork& work,
                                          std::vector<QueuePlace> others) const {
    std::erase_if(others, [&](QueuePlace other) {
      return work.launched && at(other).launched && *at(other).launched >= *work.launched;
    });
    return others;
  }

  bool is_behind_event(const QueuedWork& work) const {
    return work.call && behind_events_.contains({work.call->thread, work.call->event});
  }

  /// Whether the launch explains the start: soon behind the call, or while that still copies.
  bool waits_for_launch(const QueuedWork& work) const {
    if (!work.launched) return false;
    if (work.start - *work.launched <= kLongestLatency) return true;
    const Nanoseconds end = recording_.at(*work.call).time.end - window_.start;
    return work.start <= end + 2 * latency_;
  }

  WorkStart read(QueuePlace place) const {
    const QueuedWork& work = at(place);
    const Nanoseconds free = place.index == 0 ? 0 : queues_[place.stream][place.index - 1].end;
    const std::vector<QueuePlace> others = before(place);
    WorkStart start;
    if (is_behind_event(work)) start.after = launched_before(work, others);
    Nanoseconds ready = free;
    for (const QueuePlace other : start.after) ready = std::max(ready, at(other).end);
    const Nanoseconds launched = work.launched ? *work.launched + latency_ : 0;
    if (work.start - std::max(ready, launched) > kFollows) {
      if (const auto other = right_before(work, others)) {
        start.after.push_back(*other);
        ready = at(*other).end;
      } else if (!waits_for_launch(work)) {
        start.not_explained = work.start - std::max(ready, launched) - gap_;
        return explained(start, work, gap_);
      }
    }
    const bool is_late = work.launched && launched > ready;
    if (is_late || work.start - ready > kCrosses)  // it waited for its launch
      return launched_late(start, work, std::max(free, *work.launched));
    return explained(start, work, work.start - ready);
  }

  /// The work of other streams that ended last, where that is right before the work began.
  std::optional<QueuePlace> right_before(const QueuedWork& work,
                                         const std::vector<QueuePlace>& others) const {
    const auto last = std::ranges::max_element(others, {}, [&](QueuePlace p) { return at(p).end; });
    if (last == others.end() || work.start - at(*last).end > kCrosses) return std::nullopt;
    return *last;
  }

  /// The gap between the work and what it waited for is the GPU's: it counts to the work's time.
  WorkStart explained(WorkStart start, const QueuedWork& work, Nanoseconds gap) const {
    start.begin = work.start - gap;
    const Nanoseconds latest = start.begin - start.not_explained;
    if (work.launched)
      start.launched = std::clamp(latest, *work.launched, *work.launched + latency_);
    return start;
  }

  /// It began when its launch had reached the GPU; in a busy stream a usual gap would lie before.
  WorkStart launched_late(WorkStart start, const QueuedWork& work, Nanoseconds possible) const {
    start.begin = work.start - std::min(gap_, work.start - possible);
    start.launched = start.begin;
    return start;
  }

  const Recording& recording_;
  Interval window_;
  const GpuQueues& queues_;
  Calls behind_events_;
  Nanoseconds latency_ = 0, gap_ = 0;
};

}  // namespace

std::vector<std::vector<WorkStart>> work_starts(const Recording& recording, Interval window,
                                                const GpuQueues& queues) {
  return StartReader(recording, window, queues).read();
}

}  // namespace stepsim
