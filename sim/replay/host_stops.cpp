// Puts the stops of a thread in order.
#include "sim/replay/host_stops.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/recording/breakdown.hpp"
#include "sim/recording/core_device.hpp"
#include "sim/recording/host_context.hpp"
#include "sim/recording/marks.hpp"

namespace stepsim {
namespace {

/// The outermost operator of ATen around a call, which the program called; else the outermost of
/// all, else the call itself, if it is one of the runtime. Behind it the line of the program, where
/// that was recorded.
std::string caller_of(const Recording& recording, Enclosing enclosing, const HostEvent& call) {
  const HostPlace place = place_of(recording, enclosing);
  std::string caller = place.operation;
  if (caller.empty())
    caller = call.work == HostWork::runtime ? recording.name_of(call) : "the training loop";
  for (const HostEvent* event : enclosing) {
    if (event->work != HostWork::operation) continue;
    if (!recording.name_of(*event).starts_with("aten::")) continue;
    caller = recording.name_of(*event);
    break;
  }
  return place.line.empty() ? caller : caller + " in " + place.line;
}

std::vector<std::string> callers_of(const Recording& recording, Interval window,
                                    const RecordedThread& thread,
                                    const std::vector<GpuWait>& waits) {
  std::vector<Nanoseconds> moments;
  for (const GpuWait& wait : waits) moments.push_back(wait.time.start + window.start);
  std::vector<std::string> callers(waits.size());
  visit_moments(thread, moments, [&](std::size_t i, Enclosing enclosing) {
    callers[i] = caller_of(recording, enclosing, thread.events[waits[i].call.event]);
  });
  return callers;
}

std::vector<HostStop> stops_of(const Recording& recording, Interval window, HostLineParts& parts) {
  std::vector<HostStop> stops;
  std::vector<std::string> callers =
      callers_of(recording, window, recording.threads[parts.thread], parts.waits);
  for (std::size_t i = 0; i < parts.waits.size(); ++i) {
    GpuWait& wait = parts.waits[i];
    stops.push_back({.time = wait.time,
                     .kind = wait.is_for_room ? StopKind::room : StopKind::gpu,
                     .works = std::move(wait.works),
                     .caller = std::move(callers[i])});
    if (wait.synchronises && wait.left > kLongestReturn)
      stops.push_back(
          {.time = {wait.time.end, wait.time.end + wait.left}, .kind = StopKind::not_explained});
  }
  for (std::uint32_t h = 0; h < parts.handovers.size(); ++h) {
    const Handover& handover = parts.handovers[h];
    if (handover.from == parts.thread)
      stops.push_back(
          {.time = {handover.given, handover.given}, .kind = StopKind::hands_over, .number = h});
    if (handover.to == parts.thread)
      stops.push_back(
          {.time = {handover.waited, handover.given}, .kind = StopKind::taken_over, .number = h});
  }
  for (std::uint32_t m = 0; m < parts.step_marks.size(); ++m)
    stops.push_back({.time = {parts.step_marks[m], parts.step_marks[m]},
                     .kind = StopKind::step_mark,
                     .number = m});
  return stops;
}

void sort(std::vector<HostStop>& stops) {
  std::ranges::stable_sort(stops, [](const HostStop& a, const HostStop& b) {
    return std::tie(a.time.start, a.time.end) < std::tie(b.time.start, b.time.end);
  });
}

/// What lies within another stop begins where that ends; a wait that has nothing left is none.
void separate(std::vector<HostStop>& stops) {
  Nanoseconds free = 0;
  for (HostStop& stop : stops) {
    stop.time.start = std::max(stop.time.start, free);
    free = stop.time.end = std::max(stop.time.end, stop.time.start);
  }
}

IntervalSet loader_of(const Recording& recording, std::uint32_t thread) {
  std::vector<Interval> loader;
  for (const HostEvent& event : recording.threads[thread].events) {
    if (event.work == HostWork::annotation && marks_loader(recording.name_of(event)))
      loader.push_back(event.time);
  }
  return united(std::move(loader));
}

/// Pauses that no other stop takes, cut where something is launched or marked.
std::vector<HostStop> pauses(const IntervalSet& set, Cause cause, Interval window,
                             const std::vector<HostStop>& others, const HostLineParts& parts) {
  std::vector<Interval> shifted, taken;
  for (const Interval& time : clipped(set, window))
    shifted.push_back({time.start - window.start, time.end - window.start});
  std::vector<Nanoseconds> cuts = parts.launches;
  for (const HostStop& other : others) {
    if (other.time.length() > 0) taken.push_back(other.time);
    if (other.time.length() == 0) cuts.push_back(other.time.start);
  }
  std::ranges::sort(cuts);
  std::vector<HostStop> stops;
  for (Interval rest : difference(shifted, united(std::move(taken)))) {
    for (auto cut = std::ranges::upper_bound(cuts, rest.start);
         cut != cuts.end() && *cut < rest.end; ++cut) {
      if (*cut == rest.start) continue;
      stops.push_back({.time = {rest.start, *cut}, .kind = StopKind::pause, .cause = cause});
      rest.start = *cut;
    }
    stops.push_back({.time = rest, .kind = StopKind::pause, .cause = cause});
  }
  return stops;
}

}  // namespace

HostLine host_line(const Recording& recording, Interval window, HostLineParts parts) {
  HostLine line{parts.thread, stops_of(recording, window, parts)};
  std::erase_if(line.stops, [&](const HostStop& stop) { return stop.time.end > window.length(); });
  sort(line.stops);
  separate(line.stops);
  const auto add = [&](const IntervalSet& set, Cause cause) {
    for (HostStop& stop : pauses(set, cause, window, line.stops, parts))
      line.stops.push_back(std::move(stop));
    sort(line.stops);
  };
  add(loader_of(recording, parts.thread), Cause::batch_wait);
  if (!recording.is_of_core && parts.step_marks.empty()) return line;
  const HostPauses of_host = pauses_of(recording);
  add(of_host.garbage_collection, Cause::garbage_collection);
  add(of_host.recompilation, Cause::recompilation);
  if (recording.is_of_core) add(reads_of_core(recording), Cause::cpu_work);
  return line;
}

}  // namespace stepsim
