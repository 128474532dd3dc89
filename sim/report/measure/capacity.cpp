// Compares sizes with each other.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "sim/report/search/capacity_report.hpp"
#include "sim/search/pareto_front.hpp"

namespace stepsim {
namespace {

/// A number of a size by which sizes are compared; less is better.
struct SizeObjective {
  const char* name;
  double (*value)(const CapacityPoint& point, const CapacityReport& report);
};

constexpr double kHour = 3600;

const std::array<SizeObjective, 6> kObjectives{{
    {"step_time", [](const CapacityPoint& p, const CapacityReport&) { return time_of(p); }},
    {"gpus", [](const CapacityPoint& p,
                const CapacityReport&) { return static_cast<double>(p.search.gpus); }},
    {"tokens_per_s",
     [](const CapacityPoint& p, const CapacityReport&) { return p.best()->step.seconds(); }},
    {"mfu", [](const CapacityPoint& p, const CapacityReport&) { return -p.best()->mfu; }},
    {"cost", [](const CapacityPoint& p, const CapacityReport& r) { return cost_of(p, r); }},
    {"memory",
     [](const CapacityPoint& p, const CapacityReport&) { return p.best()->peak.bytes(); }},
}};

const SizeObjective* find(const std::string& name) {
  const auto found = std::ranges::find(kObjectives, name, &SizeObjective::name);
  return found == kObjectives.end() ? nullptr : &*found;
}

}  // namespace

void check_objective(const std::string& name) {
  if (find(name) != nullptr) return;
  std::vector<std::string> known;
  for (const SizeObjective& objective : kObjectives) known.emplace_back(objective.name);
  throw UserError(fmt::format("--objective {}: unknown, {}", name, did_you_mean(name, known)));
}

double time_of(const CapacityPoint& point) {
  return point.run() ? point.run()->wall.seconds() : point.best()->step.seconds();
}

double cost_of(const CapacityPoint& point, const CapacityReport& report) {
  return time_of(point) / kHour * point.search.gpus * report.dollars_per_hour.value_or(1);
}

void rank_sizes(CapacityReport& report) {
  const SizeObjective& objective = *find(report.objective);
  std::vector<SizeCosts> costs;
  std::vector<std::size_t> fitting;
  // A step cannot be compared with a training: where one training was interrupted its size is left
  // out.
  const bool has_runs = std::ranges::any_of(
      report.points, [](const CapacityPoint& point) { return point.run().has_value(); });
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const CapacityPoint& point = report.points[i];
    if (point.best() == nullptr || (has_runs && !point.run())) continue;
    fitting.push_back(i);
    costs.push_back(
        {static_cast<double>(point.search.gpus), time_of(point), cost_of(point, report)});
    const auto better = [&](std::size_t other) {
      return objective.value(point, report) < objective.value(report.points[other], report);
    };
    if (report.deadline && !in_time(point, *report.deadline).value_or(false)) continue;
    if (!report.best || better(*report.best)) report.best = i;
  }
  const std::vector<bool> on = on_pareto_front(costs);
  for (std::size_t i = 0; i < fitting.size(); ++i) report.points[fitting[i]].on_front = on[i];
}

}  // namespace stepsim
