// Finds silences of threads, and who ended them.
#include "sim/replay/handovers.hpp"

#include <algorithm>
#include <utility>

#include "sim/recording/marks.hpp"

namespace stepsim {
namespace {

/// A moment at which an operator or call begins or ends.
struct Boundary {
  Nanoseconds at;
  bool begins_call;
};

bool is_sign_of_life(const Recording& recording, const HostEvent& event) {
  return event.work == HostWork::operation || event.work == HostWork::runtime ||
         (event.work == HostWork::annotation && marks_loader(recording.name_of(event)));
}

std::vector<Interval> silences_of(const Recording& recording, std::uint32_t thread,
                                  Interval window) {
  std::vector<Boundary> boundaries{{window.start, false}};
  for (const HostEvent& event : recording.threads[thread].events) {
    if (!is_sign_of_life(recording, event)) continue;
    if (event.time.end <= window.start || event.time.start >= window.end) continue;
    boundaries.push_back(
        {std::max(event.time.start, window.start), event.work == HostWork::runtime});
    boundaries.push_back({event.time.end, false});
  }
  std::ranges::stable_sort(boundaries, {}, &Boundary::at);
  std::vector<Interval> silences;
  boundaries.push_back({std::max(boundaries.back().at, window.end) + kShortestPause, false});
  for (std::size_t i = 0; i + 1 < boundaries.size(); ++i) {
    const Interval silence{boundaries[i].at, boundaries[i + 1].at};
    if (!boundaries[i].begins_call && silence.length() >= kShortestPause)
      silences.push_back(silence);
  }
  return silences;
}

/// The silence in which that moment lies, or the end of the list.
std::vector<Interval>::const_iterator silence_at(const std::vector<Interval>& silences,
                                                 Nanoseconds moment) {
  auto found = std::ranges::upper_bound(silences, moment, {}, &Interval::start);
  if (found == silences.begin()) return silences.end();
  --found;
  return found->end > moment ? found : silences.end();
}

}  // namespace

std::vector<Handover> handovers(const Recording& recording,
                                const std::vector<std::uint32_t>& threads, Interval window) {
  std::vector<std::vector<Interval>> silences;
  for (const std::uint32_t thread : threads)
    silences.push_back(silences_of(recording, thread, window));
  std::vector<Handover> found;
  for (std::size_t to = 0; to < threads.size(); ++to) {
    for (const Interval& silence : silences[to]) {
      if (silence.end >= window.end) continue;
      Handover best{.to = threads[to], .waited = silence.start, .given = -1};
      for (std::size_t from = 0; from < threads.size(); ++from) {
        if (from == to) continue;
        const auto other = silence_at(silences[from], silence.end);
        if (other == silences[from].end() || other->start < silence.start) continue;
        if (best.given >= 0 && other->start <= best.given) continue;
        best.from = threads[from];
        best.given = other->start;
      }
      if (best.given >= 0) found.push_back(best);
    }
  }
  for (Handover& handover : found) {
    handover.waited -= window.start;
    handover.given -= window.start;
  }
  std::ranges::stable_sort(found, {}, &Handover::given);
  return found;
}

}  // namespace stepsim
