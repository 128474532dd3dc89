// Says in words which sizes meet a deadline.
#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/measure/cost.hpp"
#include "sim/report/run/long_run_text.hpp"
#include "sim/report/search/capacity_report.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

std::string gpus_text(const CapacityPoint& point) { return grouped(point.search.gpus) + " GPUs"; }

/// A training in words: "25.5 days, goodput 97.1 %, 97,885.72 $".
std::string run_text(const CapacityPoint& point, const CapacityReport& report) {
  std::string text = span_text(point.run()->wall);
  if (point.run()->goodput) text += fmt::format(", goodput {}", percent(*point.run()->goodput));
  return text + ", " +
         (report.dollars_per_hour ? dollars(cost_of(point, report))
                                  : humanise(cost_of(point, report), "GPU hours").text());
}

using Known = std::vector<const CapacityPoint*>;

/// Which of the sizes are in time, in words. REQUIRES: `known` in rising order of GPUs.
std::string who_is_in_time(const CapacityReport& report, const Known& known) {
  const auto meets = [&](const CapacityPoint* point) { return *in_time(*point, *report.deadline); };
  const auto fewest = std::ranges::find_if(known, meets);
  const auto* cheapest = *fewest;
  for (const CapacityPoint* point : known)
    if (meets(point) && cost_of(*point, report) < cost_of(*cheapest, report)) cheapest = point;
  std::string text =
      fmt::format("{} are the fewest of these that are done within {}: {}", gpus_text(**fewest),
                  span_text(*report.deadline), run_text(**fewest, report));
  if (cheapest != *fewest)
    text +=
        fmt::format("; {} are the cheapest: {}", gpus_text(*cheapest), run_text(*cheapest, report));
  if (fewest != known.begin())
    text += fmt::format("; {} take {}", gpus_text(**(fewest - 1)),
                        span_text((*(fewest - 1))->run()->wall));
  return text;
}

std::string too_late_text(const CapacityReport& report, const Known& known) {
  const CapacityPoint* fastest = *std::ranges::min_element(
      known, [](const auto* a, const auto* b) { return a->run()->wall < b->run()->wall; });
  const Seconds wall = fastest->run()->wall, deadline = *report.deadline;
  return fmt::format("none of these is done within {}: {}, the {}, take {}, {} ({}) too long",
                     span_text(deadline), gpus_text(*fastest),
                     fastest == known.back() ? "largest" : "fastest", span_text(wall),
                     span_text(wall - deadline), percent(wall / deadline - 1));
}

std::string undecided_text(const CapacityReport& report) {
  std::vector<std::string> sizes;
  for (const int gpus : undecided(report)) sizes.push_back(grouped(gpus));
  if (sizes.empty()) return "";
  return fmt::format("; not decided: {} GPUs, whose search did not end", fmt::join(sizes, ", "));
}

}  // namespace

std::optional<bool> in_time(const CapacityPoint& point, Seconds deadline) {
  if (!point.run()) return std::nullopt;
  return point.run()->wall <= deadline;
}

std::vector<int> undecided(const CapacityReport& report) {
  std::vector<int> sizes;
  if (!report.deadline) return sizes;
  for (const CapacityPoint& point : report.points) {
    const bool ended =
        point.search.outcome.end == SearchEnd::complete && point.search.no_run.empty();
    if (!ended && !in_time(point, *report.deadline).value_or(false))
      sizes.push_back(point.search.gpus);
  }
  sizes.insert(sizes.end(), report.not_searched.begin(), report.not_searched.end());
  return sizes;
}

std::string deadline_text(const CapacityReport& report) {
  Known known;
  for (const CapacityPoint& point : report.points)
    if (point.run()) known.push_back(&point);
  const std::string open = undecided_text(report);
  if (known.empty()) return "no training is known" + open;
  const bool any = std::ranges::any_of(
      known, [&](const CapacityPoint* point) { return *in_time(*point, *report.deadline); });
  const std::string text = any ? who_is_in_time(report, known) : too_late_text(report, known);
  const bool has_goodput = known.front()->run()->goodput.has_value();
  return text + (has_goodput ? "" : kWithoutFailures) + open;
}

}  // namespace stepsim
