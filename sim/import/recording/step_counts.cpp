// Counts events by the steps that they start in.
#include "sim/import/recording/step_counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "sim/recording/phase.hpp"
#include "sim/recording/steps.hpp"

namespace stepsim {
namespace {

/// From the first to the last start of anything.
Interval all_of(const Recording& recording) {
  Interval all{INT64_MAX, INT64_MIN};
  const auto take = [&](const Interval& time) {
    all = {std::min(all.start, time.start), std::max(all.end, time.end + 1)};
  };
  for (const RecordedThread& thread : recording.threads) {
    for (const HostEvent& event : thread.events) take(event.time);
  }
  for (const GpuActivity& activity : recording.activities) take(activity.time);
  return all.start > all.end ? Interval{} : all;
}

/// The names for which `which` holds, by their index.
std::vector<bool> chosen(const Recording& recording, const StepCounts::Which& which) {
  std::vector<bool> names;
  for (const std::string& name : recording.names) names.push_back(which(name));
  return names;
}

/// Steps of the optimizer that is called most often; a loop may have several.
std::size_t optimizer_steps_in(const Recording& recording, Interval window) {
  std::map<std::uint32_t, std::size_t> calls;
  const std::vector<bool> is_step =
      chosen(recording, [](std::string_view name) { return name.starts_with("Optimizer.step#"); });
  for (const RecordedThread& thread : recording.threads) {
    for (const HostEvent& event : thread.events) {
      if (is_step[event.name] && event.time.start >= window.start && event.time.start < window.end)
        ++calls[event.name];
    }
  }
  std::size_t most = 0;
  for (const auto& [name, count] : calls) most = std::max(most, count);
  return most;
}

}  // namespace

StepCounts::StepCounts(const Recording& recording) : recording_(recording) {
  for (const RecordedStep& step : steps_of(recording)) steps_.push_back(step.window);
  marks_steps_ = !steps_.empty();
  if (steps_.empty()) steps_.push_back(all_of(recording));
  optimizer_steps_ = optimizer_steps_in(recording, window());
}

double StepCounts::of_step(const std::vector<Amount>& amounts) const {
  std::vector<double> by_step(steps_.size());
  double sum = 0;
  for (const auto& [at, amount] : amounts) {
    const auto behind = std::ranges::upper_bound(steps_, at, {}, &Interval::start);
    if (behind == steps_.begin() || at >= std::prev(behind)->end) continue;
    by_step[static_cast<std::size_t>(behind - steps_.begin()) - 1] += amount;
    sum += amount;
  }
  const auto steps = static_cast<double>(optimizer_steps_);
  if (optimizer_steps_ > 0 && (optimizer_steps_ < steps_.size() || !marks_steps_))
    return std::round(sum / steps);
  const auto middle = by_step.begin() + static_cast<std::ptrdiff_t>(by_step.size() / 2);
  std::ranges::nth_element(by_step, middle);
  return *middle;
}

std::vector<bool> StepCounts::backward_names() const {
  return chosen(recording_, [](std::string_view name) {
    const auto phase = phase_said_by(name);
    return phase == StepPhase::backward || phase == StepPhase::recompute;
  });
}

std::vector<double> StepCounts::forward_shapes() const {
  const std::vector<bool> is_backward = backward_names();
  std::vector<std::vector<Amount>> calls(recording_.shapes.size());
  for (const RecordedThread& thread : recording_.threads) {
    Nanoseconds backward_until = INT64_MIN;
    auto event = thread.events.begin();
    for (const ShapedCall& call : thread.shaped_calls) {
      for (; event != thread.events.end() && event->time.start <= call.time.start; ++event) {
        if (is_backward[event->name]) backward_until = std::max(backward_until, event->time.end);
      }
      if (call.time.start >= backward_until) calls[call.shape].push_back({call.time.start});
    }
  }
  std::vector<double> counts;
  for (const auto& of_shape : calls) counts.push_back(of_step(of_shape));
  return counts;
}

double StepCounts::calls(std::string_view name, bool is_backward) const {
  const auto known = std::ranges::find(recording_.names, name);
  if (known == recording_.names.end()) return 0;
  const auto index = static_cast<std::uint32_t>(known - recording_.names.begin());
  const std::vector<bool> is_pass = backward_names();
  std::vector<Amount> starts;
  for (const RecordedThread& thread : recording_.threads) {
    Nanoseconds backward_until = INT64_MIN;
    for (const HostEvent& event : thread.events) {
      if (is_pass[event.name]) backward_until = std::max(backward_until, event.time.end);
      if (event.name == index && (event.time.start < backward_until) == is_backward)
        starts.push_back({event.time.start});
    }
  }
  return of_step(starts);
}

double StepCounts::forward(std::string_view name) const { return calls(name, false); }
double StepCounts::recomputed(std::string_view name) const { return calls(name, true); }

double StepCounts::outermost(const Which& which) const {
  const std::vector<bool> counts = chosen(recording_, which);
  std::vector<Amount> starts;
  for (const RecordedThread& thread : recording_.threads) {
    Nanoseconds until = INT64_MIN;
    for (const HostEvent& event : thread.events) {
      if (!counts[event.name] || event.time.start < until) continue;
      starts.push_back({event.time.start});
      until = event.time.end;
    }
  }
  return of_step(starts);
}

bool StepCounts::has(const Which& which) const {
  return std::ranges::any_of(recording_.names, which);
}

}  // namespace stepsim
