// Takes waiting off the window, and counts launches.
#include "sim/recording/launch_pace.hpp"

#include <algorithm>
#include <set>

#include "sim/recording/breakdown.hpp"
#include "sim/recording/idle_time.hpp"
#include "sim/recording/marks.hpp"
#include "sim/recording/recorder_cost.hpp"

namespace stepsim {
namespace {

std::set<std::uint32_t> launching_threads(const Recording& recording) {
  std::set<std::uint32_t> threads;
  for (const GpuActivity& activity : recording.activities) {
    if (activity.launch) threads.insert(activity.launch->thread);
  }
  return threads;
}

bool waits(const Recording& recording, const HostEvent& event) {
  const std::string& name = recording.name_of(event);
  if (event.work == HostWork::runtime) return synchronises(name);
  return event.work == HostWork::annotation && marks_loader(name);
}

IntervalSet waiting_of(const Recording& recording) {
  const HostPauses pauses = pauses_of(recording);
  std::vector<Interval> waiting = pauses.garbage_collection;
  waiting.insert(waiting.end(), pauses.recompilation.begin(), pauses.recompilation.end());
  for (const std::uint32_t thread : launching_threads(recording)) {
    for (const HostEvent& event : recording.threads[thread].events) {
      if (waits(recording, event)) waiting.push_back(event.time);
    }
  }
  return united(std::move(waiting));
}

}  // namespace

LaunchPace launch_pace_of(const Recording& recording, Interval window) {
  LaunchPace pace;
  for (const GpuActivity& activity : recording.activities) {
    if (!activity.launch || activity.work != GpuWork::kernel) continue;
    const HostEvent& call = recording.at(*activity.launch);
    if (call.time.start < window.start || call.time.start >= window.end) continue;
    pace.has_graphs = pace.has_graphs || replays_graph(recording.name_of(call));
    ++pace.launches;
    pace.calls += static_cast<double>(call.time.length()) * 1e-9;
  }
  const Nanoseconds waited = length_within(waiting_of(recording), window);
  pace.seconds = static_cast<double>(window.length() - waited) * 1e-9;
  pace.calls = std::min(pace.calls, pace.seconds);
  pace.slowdown = recorder_slowdown(recording.notes);
  return pace;
}

}  // namespace stepsim
