// A step's timeline as JSON, read back and held against the spans and the partition that it is of.
#include "sim/report/run/timeline_json.hpp"

#include <cmath>
#include <map>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/run/trace_flows.hpp"
#include "sim/timeline/chosen.hpp"
#include "sim/timeline/partition.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;
using nlohmann::json;

namespace {

/// A pipeline of eight stages, and its first measured step.
struct EightStages {
  Scenario scenario = load(
      ScenarioArgument{std::string(source_folder()) + "/scenarios/gpt-pipeline-8xa100.yaml", {}});
  OpGraph graph = build(scenario);
  Plan plan = make_plan(scenario, graph, {.folds = true});
  Timeline timeline = simulate(plan).timeline;
  std::size_t step = static_cast<std::size_t>(timeline.warmup);
  json document = [this] {
    TraceFacts facts(scenario, graph, plan);
    return json::parse(
        timeline_json({.scenario = scenario.name, .level = "task"}, timeline, step, facts));
  }();
};

/// The sum of a column by cause, in nanoseconds.
std::vector<std::int64_t> by_cause(const json& columns) {
  std::vector<std::int64_t> sums(kCauses, 0);
  for (std::size_t i = 0; i < columns["cause"].size(); ++i)
    sums[columns["cause"][i].get<std::size_t>()] += columns["duration_ns"][i].get<std::int64_t>();
  return sums;
}

}  // namespace

TEST_CASE("spans of a timeline's columns are those of the simulation, to the nanosecond") {
  const EightStages p;
  const Timeline part = chosen(p.timeline, {.ranks = {}, .steps = StepRange{p.step, p.step}});
  REQUIRE(p.document["ranks"].size() == part.ranks.size());
  const std::int64_t begin = nanoseconds(p.timeline.step_start(p.step));
  for (std::size_t r = 0; r < part.ranks.size(); ++r) {
    const RankTimeline& rank = part.ranks[r];
    const json& columns = p.document["ranks"][r]["spans"];
    const std::vector<Slice> slices = slices_of(rank);
    REQUIRE(columns["row"].size() == slices.size());
    std::vector<std::int64_t> free(rank.rows.size(), begin);
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const Span& span = rank.spans[i];
      CHECK(columns["row"][i] == span.row);
      const std::int64_t start = free[span.row] + columns["gap_ns"][i].get<std::int64_t>();
      free[span.row] = start + columns["duration_ns"][i].get<std::int64_t>();
      CHECK(start == slices[i].start);
      CHECK(free[span.row] == slices[i].end);
      CHECK(p.document["names"][columns["name"][i].get<std::size_t>()] == part.names[span.name]);
      const auto back = columns["blocker_back"][i].get<std::int64_t>();
      CHECK((back == 0 ? kNoSpan : static_cast<std::int64_t>(i) - back) == span.blocker);
    }
  }
}

TEST_CASE("waits of a timeline have the seconds that the partition gives to waiting") {
  const EightStages p;
  const double from = p.timeline.step_start(p.step), to = p.timeline.step_ends[p.step];
  for (std::size_t r = 0; r < p.timeline.ranks.size(); ++r) {
    const RankTimeline& rank = p.timeline.ranks[r];
    const std::vector<std::int64_t> waits = by_cause(p.document["ranks"][r]["waits"]);
    CauseSeconds left = partition(p.timeline, rank, from, to);
    for (const Span& span : rank.spans) {
      const double inside = std::min(span.end, to) - std::max(span.start, from);
      if (rank.rows[span.row].kind != RowKind::compute || inside <= 0) continue;
      const CauseSeconds work = work_of(p.timeline, span);
      for (std::size_t c = 0; c < kCauses; ++c)
        left[c] -= work[c] * inside / (span.end - span.start);
    }
    for (std::size_t c = 0; c < kCauses; ++c) {
      CAPTURE(name_of(static_cast<Cause>(c)));
      // A wait is rounded to whole nanoseconds at both ends.
      const double rounding =
          2e-9 * static_cast<double>(p.document["ranks"][r]["waits"]["cause"].size() + 1);
      CHECK(std::abs(static_cast<double>(waits[c]) * 1e-9 - left[c]) < rounding);
    }
  }
}

TEST_CASE("both ends of a message have its number") {
  const EightStages p;
  std::map<std::uint32_t, std::pair<int, int>> ends;  // sends, receives
  for (const json& rank : p.document["ranks"]) {
    const json& spans = rank["spans"];
    for (std::size_t i = 0; i < spans["message"].size(); ++i) {
      const auto message = spans["message"][i].get<std::uint32_t>();
      if (message == 0) continue;
      ++(spans["sends"][i] == 1 ? ends[message].first : ends[message].second);
    }
  }
  CHECK(ends.size() > 8);
  for (const auto& [message, of] : ends) CHECK(of == std::pair(1, 1));
}
