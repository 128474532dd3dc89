// Puts what a reader has found in order, and finds who launched what.
#include "sim/recording/recording.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace stepsim {
namespace {

/// Streams work in order; a kernel may begin while the one before it ends (programmatic dependent
/// launch), by microseconds. An overlap above this is a wrong end, as ROCm's profiler writes some
/// (AMD-AGI/TraceLens issue 669: by seconds).
constexpr Nanoseconds kLongestOverlap = 10'000'000;

bool is_before(const Interval& a, const Interval& b) {
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

struct Call {
  std::uint64_t correlation;
  HostEventPlace place;
};

/// Runtime calls that have a correlation, in its order; of two, the first of the file.
std::vector<Call> calls_of(const Recording& recording) {
  std::vector<Call> calls;
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    const auto& events = recording.threads[t].events;
    for (std::uint32_t e = 0; e < events.size(); ++e) {
      if (events[e].work == HostWork::runtime && events[e].correlation != 0)
        calls.push_back({events[e].correlation, {t, e}});
    }
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const Call& a, const Call& b) { return a.correlation < b.correlation; });
  return calls;
}

void find_launches(Recording& recording) {
  const std::vector<Call> calls = calls_of(recording);
  std::set<std::string> processes;
  std::vector<bool> launches(recording.threads.size());
  for (GpuActivity& activity : recording.activities) {
    const auto call = std::lower_bound(
        calls.begin(), calls.end(), activity.correlation,
        [](const Call& a, std::uint64_t correlation) { return a.correlation < correlation; });
    if (call == calls.end() || call->correlation != activity.correlation) continue;
    activity.launch = call->place;
    launches[call->place.thread] = true;
  }
  for (std::size_t t = 0; t < launches.size(); ++t) {
    if (launches[t]) processes.insert(recording.threads[t].process);
  }
  recording.notes.processes = processes.size();
}

/// The collective that a thread hands to its library at that moment; of several marks of one call,
/// that which names the group.
std::uint32_t collective_at(const Recording& recording, HostEventPlace launch) {
  const Nanoseconds moment = recording.at(launch).time.start;
  const auto& calls = recording.threads[launch.thread].collective_calls;
  auto call = std::upper_bound(
      calls.begin(), calls.end(), moment,
      [](Nanoseconds at, const CollectiveCall& later) { return at < later.time.start; });
  // Calls nest by a few at most: a collective of several tensors is one of one tensor each.
  std::uint32_t found = kNoCollective;
  for (int looked_at = 0; looked_at < 4 && call != calls.begin(); ++looked_at) {
    --call;
    if (moment >= call->time.end) continue;
    if (!recording.collectives[call->collective].group.empty()) return call->collective;
    if (found == kNoCollective) found = call->collective;
  }
  return found;
}

void find_collectives(Recording& recording) {
  for (GpuActivity& activity : recording.activities) {
    if (activity.work != GpuWork::kernel || activity.collective != kNoCollective ||
        !activity.launch)
      continue;
    activity.collective = collective_at(recording, *activity.launch);
  }
}

void clip_durations(Recording& recording) {
  std::map<std::int32_t, GpuActivity*> last;
  for (GpuActivity& activity : recording.activities) {
    GpuActivity*& before = last[activity.stream];
    if (before != nullptr && before->time.end - activity.time.start > kLongestOverlap) {
      before->time.end = activity.time.start;
      ++recording.notes.clipped;
    }
    before = &activity;
  }
}

}  // namespace

Recording put_in_order(Recording recording) {
  for (RecordedThread& thread : recording.threads) {
    std::stable_sort(
        thread.events.begin(), thread.events.end(),
        [](const HostEvent& a, const HostEvent& b) { return is_before(a.time, b.time); });
    std::stable_sort(
        thread.collective_calls.begin(), thread.collective_calls.end(),
        [](const CollectiveCall& a, const CollectiveCall& b) { return is_before(a.time, b.time); });
    std::stable_sort(
        thread.shaped_calls.begin(), thread.shaped_calls.end(),
        [](const ShapedCall& a, const ShapedCall& b) { return is_before(a.time, b.time); });
  }
  std::stable_sort(
      recording.activities.begin(), recording.activities.end(),
      [](const GpuActivity& a, const GpuActivity& b) { return a.time.start < b.time.start; });
  clip_durations(recording);
  find_launches(recording);
  find_collectives(recording);
  return recording;
}

}  // namespace stepsim
