// Chooses which ranks a page has room for, and whether it has room for their kernels.
#include "sim/command/page/step_timeline.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "sim/engine/simulate.hpp"
#include "sim/report/run/timeline_json.hpp"
#include "sim/report/run/trace_facts.hpp"
#include "sim/timeline/chosen.hpp"

namespace stepsim {
namespace {

/// A span takes one to ten bytes of a page, which is to be smaller than 2 MB.
constexpr std::int64_t kMostSpansOfPage = 170'000;
/// More rows than that nobody looks through, in one timeline and in several under each other.
constexpr std::size_t kMostRanksOfPage = 32, kMostRanksOfSeveral = 16;

std::int64_t spans_in(const RankTimeline& rank, int step) {
  return std::ranges::count_if(rank.spans, [&](const Span& span) { return span.step == step; });
}

/// The ranks in the order in which a page wants them: the slowest, one of each stage, all others.
std::vector<const RankTimeline*> by_interest(const Timeline& timeline) {
  std::map<int, double> work;  // by rank
  for (const RankPace& pace : timeline.paces) work[pace.rank] = pace.work + pace.stall;
  std::map<int, const RankTimeline*> of_stage;
  const RankTimeline* slowest = nullptr;
  for (const RankTimeline& rank : timeline.ranks) {
    const RankTimeline*& shown = of_stage[rank.stage];
    if (shown == nullptr || rank.multiplicity > shown->multiplicity) shown = &rank;
    if (slowest == nullptr || work[rank.rank] > work[slowest->rank]) slowest = &rank;
  }
  std::vector<const RankTimeline*> ranks;
  const auto add = [&](const RankTimeline* rank) {
    if (rank != nullptr && std::ranges::find(ranks, rank) == ranks.end()) ranks.push_back(rank);
  };
  add(slowest);
  for (const auto& [stage, rank] : of_stage) add(rank);
  for (const RankTimeline& rank : timeline.ranks) add(&rank);
  return ranks;
}

/// The first of them while there is room; always one of them.
std::vector<int> with_room(const Timeline& timeline, std::int64_t room, std::size_t most) {
  std::vector<int> chosen;
  for (const RankTimeline* rank : by_interest(timeline)) {
    room -= spans_in(*rank, timeline.warmup);
    if ((room < 0 && !chosen.empty()) || chosen.size() == most) break;
    chosen.push_back(rank->rank);
  }
  return chosen;
}

std::int64_t spans_in_step(const Timeline& timeline) {
  std::int64_t spans = 0;
  for (const RankTimeline& rank : timeline.ranks) spans += spans_in(rank, timeline.warmup);
  return spans;
}

}  // namespace

std::string step_timeline_json(const Scenario& scenario, const StepTimelineOptions& options) {
  const OpGraph graph = build(scenario);
  const Plan plan = make_plan(scenario, graph, {.replica = options.replica, .folds = options.fold});
  const Simulation tasks = simulate(plan, {.fold = options.fold});
  const Timeline& all = tasks.timeline;
  const std::int64_t room = kMostSpansOfPage / (1 + options.beside);
  const TimelineChoice choice{
      .ranks = with_room(all, room, options.beside > 0 ? kMostRanksOfSeveral : kMostRanksOfPage),
      .steps = {}};
  Timeline shown = chosen(all, choice);
  TimelineHead head{.scenario = scenario.name, .level = "task"};
  // Simulating the kernels of many more would only take time.
  constexpr std::int64_t kSimulatedSteps = 16;
  if (tasks.stats.kernels <= kSimulatedSteps * room) {
    Timeline of_kernels =
        chosen(simulate(plan, {.fold = options.fold, .kernels = true}).timeline, choice);
    if (spans_in_step(of_kernels) <= room) {
      shown = std::move(of_kernels);
      head.level = "kernel";
    }
  }
  head.ranks_left_out = static_cast<int>(all.ranks.size() - shown.ranks.size());
  TraceFacts facts(scenario, graph, plan);
  return timeline_json(head, shown, static_cast<std::size_t>(all.warmup), facts);
}

std::string step_timeline_json(const Scenario& scenario, const OpGraph& graph, const Plan& plan,
                               const Timeline& timeline, const std::string& level) {
  const Timeline shown = chosen(
      timeline, {.ranks = with_room(timeline, kMostSpansOfPage, kMostRanksOfPage), .steps = {}});
  const TimelineHead head{
      .scenario = scenario.name,
      .level = level,
      .ranks_left_out = static_cast<int>(timeline.ranks.size() - shown.ranks.size())};
  TraceFacts facts(scenario, graph, plan);
  return timeline_json(head, shown, static_cast<std::size_t>(timeline.warmup), facts);
}

}  // namespace stepsim
