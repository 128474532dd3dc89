// Finds the steps of a recording, and what was launched in each.
#include "sim/recording/steps.hpp"

#include <algorithm>
#include <map>

#include "sim/recording/marks.hpp"

namespace stepsim {

std::vector<RecordedStep> steps_of(const Recording& recording) {
  if (!recording.steps.empty()) return recording.steps;
  std::map<std::string, Interval> by_name;  // a step that several threads name is one
  for (const RecordedThread& thread : recording.threads) {
    for (const HostEvent& event : thread.events) {
      if (event.work != HostWork::annotation) continue;
      const std::string& name = recording.name_of(event);
      if (!marks_step(name) || event.time.length() == 0) continue;
      const auto [step, is_new] = by_name.try_emplace(name, event.time);
      if (!is_new && event.time.length() > step->second.length()) step->second = event.time;
    }
  }
  std::vector<RecordedStep> steps;
  for (const auto& [name, window] : by_name) steps.push_back({name, window});
  std::ranges::sort(steps, {}, [](const RecordedStep& step) { return step.window.start; });
  return steps;
}

Interval window_of(const Recording& recording, const std::vector<RecordedStep>& steps) {
  Interval window;
  const auto extend = [&](const Interval& by) {
    if (window.length() == 0) window = by;
    window = {std::min(window.start, by.start), std::max(window.end, by.end)};
  };
  for (const RecordedStep& step : steps) extend(step.window);
  if (!steps.empty()) return window;
  for (const GpuActivity& activity : recording.activities) extend(activity.time);
  return window;
}

std::vector<Nanoseconds> busy_by_launch(const Recording& recording,
                                        const std::vector<RecordedStep>& steps) {
  std::vector<std::vector<Interval>> launched(steps.size());
  for (const GpuActivity& activity : recording.activities) {
    if (!activity.launch) continue;
    const Nanoseconds call = recording.at(*activity.launch).time.start;
    const auto behind = std::ranges::upper_bound(
        steps, call, {}, [](const RecordedStep& step) { return step.window.start; });
    if (behind != steps.begin() && call < (behind - 1)->window.end)
      launched[static_cast<std::size_t>(behind - 1 - steps.begin())].push_back(activity.time);
  }
  std::vector<Nanoseconds> busy;
  for (std::vector<Interval>& times : launched) busy.push_back(length(united(std::move(times))));
  return busy;
}

}  // namespace stepsim
