// Puts the stops of a thread in order.
#include "sim/replay/host_stops.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace stepsim {
namespace {

/// The operators that waits were called from: of those around each call, the outermost of ATen's,
/// which the program called, or the innermost of others.
class Callers {
 public:
  Callers(const Recording& recording, std::uint32_t thread)
      : recording_(recording), events_(recording.threads[thread].events) {}

  /// REQUIRES: calls come in order.
  std::uint32_t of(std::uint32_t call) {
    for (; next_ < call; ++next_) {
      const HostEvent& event = events_[next_];
      if (event.work != HostWork::operation) continue;
      close_until(event.time.start);
      open_.push_back(next_);
    }
    close_until(events_[call].time.start);
    for (const std::uint32_t event : open_) {
      if (recording_.name_of(events_[event]).starts_with("aten::")) return events_[event].name;
    }
    return open_.empty() ? HostStop::kNoCaller : events_[open_.back()].name;
  }

 private:
  void close_until(Nanoseconds moment) {
    while (!open_.empty() && events_[open_.back()].time.end <= moment) open_.pop_back();
  }

  const Recording& recording_;
  const std::vector<HostEvent>& events_;
  std::vector<std::uint32_t> open_;  // operators that have begun and not ended
  std::uint32_t next_ = 0;
};

std::vector<HostStop> stops_of(const Recording& recording, HostLineParts& parts) {
  std::vector<HostStop> stops;
  Callers callers(recording, parts.thread);
  for (GpuWait& wait : parts.waits) {
    HostStop stop{.time = wait.time,
                  .kind = wait.is_for_room ? StopKind::room : StopKind::gpu,
                  .works = std::move(wait.works)};
    if (!wait.is_for_room) stop.caller = callers.of(wait.call.event);
    stops.push_back(std::move(stop));
    if (wait.synchronises && wait.left > kLongestReturn)
      stops.push_back({.time = {wait.time.end, wait.time.end + wait.left},
                       .kind = StopKind::not_explained});
  }
  for (std::uint32_t h = 0; h < parts.handovers.size(); ++h) {
    const Handover& handover = parts.handovers[h];
    if (handover.from == parts.thread)
      stops.push_back({{handover.given, handover.given}, StopKind::hands_over, h, {}});
    if (handover.to == parts.thread)
      stops.push_back({{handover.waited, handover.given}, StopKind::taken_over, h, {}});
  }
  for (std::uint32_t m = 0; m < parts.step_marks.size(); ++m)
    stops.push_back(
        {{parts.step_marks[m], parts.step_marks[m]}, StopKind::step_mark, m, {}});
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
  HostLine line{parts.thread, stops_of(recording, parts)};
  sort(line.stops);
  separate(line.stops);
  std::erase_if(line.stops,
                [&](const HostStop& stop) { return stop.time.end > window.length(); });
  for (HostStop& stop : loader_stops(recording, window, line.stops, parts))
    line.stops.push_back(std::move(stop));
  sort(line.stops);
  return line;
}

}  // namespace stepsim
