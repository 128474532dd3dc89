// Puts the stops of a thread in order.
#include "sim/replay/host_stops.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/recording/host_context.hpp"

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
      stops.push_back({{handover.given, handover.given}, StopKind::hands_over, h, {}, {}});
    if (handover.to == parts.thread)
      stops.push_back({{handover.waited, handover.given}, StopKind::taken_over, h, {}, {}});
  }
  for (std::uint32_t m = 0; m < parts.step_marks.size(); ++m)
    stops.push_back({{parts.step_marks[m], parts.step_marks[m]}, StopKind::step_mark, m, {}, {}});
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

/// The time of the loader that no other stop takes, cut where something is launched or marked.
std::vector<HostStop> loader_stops(const Recording& recording, Interval window,
                                   const std::vector<HostStop>& others,
                                   const HostLineParts& parts) {
  std::vector<Interval> loader, taken;
  for (const HostEvent& event : recording.threads[parts.thread].events) {
    if (event.work == HostWork::annotation &&
        recording.name_of(event).starts_with("enumerate(DataLoader)"))
      loader.push_back({event.time.start - window.start, event.time.end - window.start});
  }
  std::vector<Nanoseconds> cuts = parts.launches;
  for (const HostStop& other : others) {
    if (other.time.length() > 0) taken.push_back(other.time);
    if (other.time.length() == 0) cuts.push_back(other.time.start);
  }
  std::ranges::sort(cuts);
  std::vector<HostStop> stops;
  const IntervalSet whole = clipped(united(std::move(loader)), {0, window.length()});
  for (Interval rest : difference(whole, united(std::move(taken)))) {
    for (auto cut = std::ranges::upper_bound(cuts, rest.start);
         cut != cuts.end() && *cut < rest.end; ++cut) {
      if (*cut == rest.start) continue;
      stops.push_back({.time = {rest.start, *cut}, .kind = StopKind::loader});
      rest.start = *cut;
    }
    stops.push_back({.time = rest, .kind = StopKind::loader});
  }
  return stops;
}

}  // namespace

HostLine host_line(const Recording& recording, Interval window, HostLineParts parts) {
  HostLine line{parts.thread, stops_of(recording, window, parts)};
  std::erase_if(line.stops, [&](const HostStop& stop) { return stop.time.end > window.length(); });
  sort(line.stops);
  separate(line.stops);
  for (HostStop& stop : loader_stops(recording, window, line.stops, parts))
    line.stops.push_back(std::move(stop));
  sort(line.stops);
  return line;
}

}  // namespace stepsim
