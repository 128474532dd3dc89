// Says what a point of a sweep's picture came to: its value in a unit that all share, or why it has
// none.
#include <array>

#include <fmt/format.h>

#include "sim/report/picture/plot_axis.hpp"
#include "sim/report/sweep/sweep_plot.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {

std::string ResultUnit::number(double value) const {
  return fmt::format("{:.{}f}", value / size, decimals);
}

ResultUnit result_unit(const Objective& objective, double largest) {
  const auto of = [](const Column& column) {
    return ResultUnit{column.scale, column.decimals, column.unit};
  };
  if (objective.aim == Aim::step_time) return of(column_for(Seconds{largest}));
  if (objective.aim == Aim::memory) return of(column_for(Bytes{largest}));
  if (objective.aim == Aim::mfu) return {0.01, 1, "%"};
  const auto decimals = [](double value) {
    const std::string digits = three_digits(value);
    const std::size_t point = digits.find('.');
    return point == std::string::npos ? 0 : static_cast<int>(digits.size() - point - 1);
  };
  if (objective.aim == Aim::cost) return {1, largest < 1 ? 3 : decimals(largest), "$"};
  const std::array kCounts{ResultUnit{1e9, 0, "G", true}, ResultUnit{1e6, 0, "M", true},
                           ResultUnit{1e3, 0, "k", true}, ResultUnit{1, 0, ""}};
  for (ResultUnit unit : kCounts) {
    if (largest < unit.size && unit.size > 1) continue;
    unit.decimals = decimals(largest / unit.size);
    return unit;
  }
  return {};
}

std::string title_with(const Objective& objective, const ResultUnit& unit) {
  if (unit.is_prefix) return unit.name + " " + objective.title;
  return objective.title + (unit.name.empty() ? "" : ", " + unit.name);
}

std::string tick_text(const ResultUnit& unit, double value) {
  return fmt::format("{:.6g}{}{}", value / unit.size, unit.name.empty() ? "" : " ", unit.name);
}

std::optional<double> result_of(const Objective& objective, const Outcome& outcome) {
  if (!outcome.numbers) return std::nullopt;
  const double value = objective.value(*outcome.numbers);
  return value > 0 ? std::optional(value) : std::nullopt;
}

bool is_ok(const Objective& objective, const Outcome& outcome) {
  return outcome.state == PointState::ok && result_of(objective, outcome);
}

std::string result_words(const SweepAnswer& answer, const Outcome& outcome) {
  const Objective& objective = *answer.objective;
  const auto value = result_of(objective, outcome);
  const std::string reason = outcome.reason.empty() ? "" : ": " + outcome.reason;
  if (!value && outcome.state == PointState::ok) return fmt::format("no {}", objective.title);
  if (!value) return name_of(outcome.state) + reason;
  const std::string text = fmt::format("{}, {}", objective_text(objective, *value),
                                       distance_text(*value, best_result(answer)));
  return outcome.state == PointState::ok ? text : text + ", " + name_of(outcome.state) + reason;
}

std::string count_of_failures(const Objective& objective,
                              const std::vector<const Outcome*>& outcomes) {
  std::array<int, kPointStates> counts{};
  for (const Outcome* outcome : outcomes)
    if (!result_of(objective, *outcome)) ++counts.at(static_cast<std::size_t>(outcome->state));
  std::string text;
  for (std::size_t i = 0; i < kPointStates; ++i) {
    const auto state = static_cast<PointState>(i);
    const std::string name = state == PointState::ok ? fmt::format("without {}", objective.title)
                                                     : std::string(name_of(state));
    if (counts[i] > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[i], name);
  }
  return text;
}

std::vector<double> results_along(const SweepAnswer& answer, std::size_t axis) {
  std::vector<double> results;
  for (const auto& outcome : answer.slices[axis].outcomes) {
    const auto result = outcome ? result_of(*answer.objective, *outcome) : std::nullopt;
    if (result) results.push_back(*result);
  }
  return results;
}

std::string axis_name(const SweepAnswer& answer, std::size_t axis, double width) {
  const std::string keys = title_of(answer.axes[axis]);
  return text_width(keys) <= width ? keys : shortened(axis_title(answer.axes, axis), 40);
}

bool holds_numbers(const SweepAxis& axis) {
  if (axis.paths.size() > 1) return false;
  for (const AxisValue& value : axis.values)
    if (!value.number) return false;
  return true;
}

double best_result(const SweepAnswer& answer) {
  return answer.objective->value(*answer.best.front().outcome.numbers);
}

// The colours are blue for what was found, green for what is as good as the best, vermilion for the
// best, and lighter ones of one palette on dark pages.
const char* const kSweepStyles =
    ".title { font-size: 16px; font-weight: bold }\n"
    ".bold { font-weight: bold }\n"
    ".state { font-style: italic }\n"
    ".small { font-size: 12px }\n"
    ".dim { fill: #666 }\n"
    ".line { fill: none; stroke: #0072b2; stroke-width: 1.8 }\n"
    ".broken { stroke-dasharray: 4 4; stroke-width: 1.2 }\n"
    ".dot { fill: #0072b2 }\n"
    ".hollow { fill: none; stroke: #0072b2; stroke-width: 1.5; pointer-events: all }\n"
    ".cross { stroke: #777; stroke-width: 1.5; pointer-events: all }\n"
    ".flat { fill: #009e73; fill-opacity: 0.18 }\n"
    ".best { fill: #d55e00 }\n"
    ".ring { fill: none; stroke: #d55e00; stroke-width: 2 }\n"
    ".hatch { stroke: #888; stroke-width: 1.2 }\n";
const char* const kSweepDarkStyles =
    ".dim { fill: #aaa }\n"
    "  .line, .hollow { stroke: #56b4e9 } .dot { fill: #56b4e9 } .cross { stroke: #999 }\n"
    "  .flat { fill-opacity: 0.3 }";

}  // namespace stepsim
