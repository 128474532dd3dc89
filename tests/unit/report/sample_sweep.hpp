// Answers of sweeps over made-up outcomes, for the writers of reports.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/sweep.hpp"

namespace stepsim {

/// Texts that begin with a digit are numbers, in the unit that they have.
inline SweepAxis axis_of(const std::string& path, const std::vector<std::string>& texts) {
  SweepAxis axis{.paths = {path}};
  for (const std::string& text : texts) {
    AxisValue value{.texts = {text}};
    if (text.front() >= '0' && text.front() <= '9')
      value.number = std::strtod(text.c_str(), nullptr);
    axis.values.push_back(value);
  }
  return axis;
}

inline Outcome outcome_of(double step_s, PointState state = PointState::ok) {
  PointNumbers numbers;
  numbers.step = Seconds{step_s};
  numbers.mfu = 0.012 / step_s;
  numbers.tokens_per_s = 65536 / step_s;
  numbers.gpus = 8;
  numbers.peak = Bytes{0x1p30 * (8 + 100 * step_s)};
  numbers.capacity = Bytes{0x1p30 * 80};
  numbers.dollars = 2.5 * step_s;
  return {state, state == PointState::ok ? "" : "needs 96.0 GiB, but a GPU has 80.0 GiB", numbers};
}

inline Outcome without_numbers(PointState state, const std::string& reason) {
  return {state, reason, std::nullopt};
}

/// What a point came to, by the places of its values.
using OutcomeOf = std::function<Outcome(const std::vector<std::size_t>& places)>;

namespace detail {

inline AxisSlice slice_through(const SweepAnswer& answer, std::size_t axis) {
  const auto& values = answer.axes[axis].values;
  std::int64_t stride = 1;
  for (std::size_t a = axis + 1; a < answer.axes.size(); ++a)
    stride *= static_cast<std::int64_t>(answer.axes[a].values.size());
  const std::int64_t best = answer.best.front().point;
  const auto place = static_cast<std::int64_t>(places_of(answer.axes, best)[axis]);
  AxisSlice slice;
  slice.order.resize(values.size());
  std::iota(slice.order.begin(), slice.order.end(), std::size_t{0});
  const bool words = answer.axes[axis].paths.size() > 1 ||
                     std::any_of(values.begin(), values.end(), [](auto& v) { return !v.number; });
  if (!words)
    std::stable_sort(slice.order.begin(), slice.order.end(),
                     [&](auto a, auto b) { return *values[a].number < *values[b].number; });
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto point = best + (static_cast<std::int64_t>(i) - place) * stride;
    slice.outcomes.emplace_back(answer.all[static_cast<std::size_t>(point)].outcome);
  }
  std::vector<std::optional<double>> results;
  for (const std::size_t i : slice.order) {
    const Outcome& outcome = *slice.outcomes[i];
    const bool ok = outcome.state == PointState::ok;
    results.push_back(ok ? std::optional(answer.objective->value(*outcome.numbers)) : std::nullopt);
  }
  if (!words) slice.flat = flat_range(results, *answer.objective);
  return slice;
}

}  // namespace detail

/// The whole grid of the axes.
inline SweepAnswer sample_sweep(std::vector<SweepAxis> axes, const std::string& objective,
                                const OutcomeOf& outcome) {
  SweepAnswer answer;
  answer.name = "gpt3-175b";
  answer.axes = std::move(axes);
  answer.objective = &objective_of(objective);
  answer.grid = 1;
  for (const SweepAxis& axis : answer.axes)
    answer.grid *= static_cast<std::int64_t>(axis.values.size());
  answer.wanted = answer.done = answer.grid;
  for (std::int64_t i = 0; i < answer.grid; ++i) {
    const SweepPoint point{i, outcome(places_of(answer.axes, i))};
    answer.all.push_back(point);
    const auto value = [&](const SweepPoint& p) {
      return answer.objective->value(*p.outcome.numbers);
    };
    if (point.outcome.state == PointState::ok) {
      ++answer.ok;
      if (answer.best.empty() || answer.objective->better(value(point), value(answer.best.front())))
        answer.best = {point};
      continue;
    }
    const auto same = [&](const StateExample& o) { return o.state == point.outcome.state; };
    const auto at = std::find_if(answer.others.begin(), answer.others.end(), same);
    if (at == answer.others.end())
      answer.others.push_back({point.outcome.state, 1, point});
    else
      ++at->count;
  }
  for (std::size_t axis = 0; axis < answer.axes.size() && !answer.best.empty(); ++axis)
    answer.slices.push_back(detail::slice_through(answer, axis));
  if (answer.axes.size() > 2) answer.all.clear();
  return answer;
}

}  // namespace stepsim
