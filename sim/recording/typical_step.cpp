// Lays the steps with the same operators beside each other, and takes the median at each place.
#include "sim/recording/typical_step.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/recording/median.hpp"
#include "sim/recording/phase.hpp"

namespace stepsim {
namespace {

/// An operator's own time, all its pieces together.
struct OwnTime {
  std::uint32_t event = 0;  ///< of the core's thread
  std::uint32_t name = 0;
  KernelKind kind = KernelKind::unknown;
  Nanoseconds time = 0;
};

/// The operators of each step, in the order in which they began.
std::vector<std::vector<OwnTime>> operators_of(const Recording& recording, const KindByName& kinds,
                                               const std::vector<RecordedStep>& steps) {
  const std::vector<StepPhase> phases = phases_of(recording);
  std::vector<std::vector<OwnTime>> all(steps.size());
  std::vector<std::map<std::uint32_t, OwnTime>> by_event(steps.size());
  for (std::size_t i = 0; i < recording.activities.size(); ++i) {
    const GpuActivity& activity = recording.activities[i];
    if (communicates(activity, kinds) || !activity.launch) continue;
    const auto behind = std::ranges::upper_bound(
        steps, activity.time.start, {}, [](const RecordedStep& step) { return step.window.start; });
    if (behind == steps.begin() || (behind - 1)->window.end < activity.time.end) continue;
    OwnTime& own =
        by_event[static_cast<std::size_t>(behind - 1 - steps.begin())][activity.launch->event];
    own.event = activity.launch->event;
    own.name = activity.name;
    own.kind = phases[i] == StepPhase::optimizer ? KernelKind::optimizer : kinds[activity.name];
    own.time += activity.time.length();
  }
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (const auto& [event, own] : by_event[step]) all[step].push_back(own);
  }
  return all;
}

using Names = std::vector<std::uint32_t>;

Names names_of(const std::vector<OwnTime>& operators) {
  Names names;
  for (const OwnTime& own : operators) names.push_back(own.name);
  return names;
}

/// The steps whose operators most others have, too.
std::vector<std::size_t> alike(const std::vector<std::vector<OwnTime>>& steps) {
  std::map<Names, std::vector<std::size_t>> by_names;
  for (std::size_t i = 0; i < steps.size(); ++i) by_names[names_of(steps[i])].push_back(i);
  std::vector<std::size_t> most;
  for (const auto& [names, same] : by_names) {
    if (!names.empty() && same.size() > most.size()) most = same;
  }
  return most;
}

Nanoseconds between_operators(const IdleTime& idle, Interval window) {
  Nanoseconds between = 0;
  for (const IdlePiece& piece : idle.pieces) {
    if (piece.kind == IdleKind::late_python) between += length_within({piece.time}, window);
  }
  return between;
}

}  // namespace

TypicalStep typical_step(const Recording& recording, const KindByName& kinds,
                         const std::vector<RecordedStep>& steps, const IdleTime& idle) {
  const std::vector<std::vector<OwnTime>> all = operators_of(recording, kinds, steps);
  const std::vector<std::size_t> same = alike(all);
  TypicalStep typical{.steps = same.size()};
  if (same.empty()) return typical;
  const auto median_s = [&](const auto& time_in) {
    std::vector<Nanoseconds> times;
    for (const std::size_t step : same) times.push_back(time_in(step));
    return seconds_of(median(std::move(times)));
  };
  const std::vector<OwnTime>& operators = all[same.front()];
  for (std::size_t place = 0; place < operators.size(); ++place)
    typical.kinds[static_cast<std::size_t>(operators[place].kind)] +=
        median_s([&](std::size_t step) { return all[step][place].time; });
  typical.between_s =
      median_s([&](std::size_t step) { return between_operators(idle, steps[step].window); });
  return typical;
}

}  // namespace stepsim
