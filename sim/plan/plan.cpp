// Laying a scenario out on its ranks: groups first, then one program for each kind of rank.
#include "sim/plan/plan.hpp"

#include <algorithm>
#include <compare>
#include <iterator>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/plan/fault/faults.hpp"
#include "sim/plan/group/check_stated.hpp"
#include "sim/plan/group/groups.hpp"
#include "sim/plan/input/checkpoint.hpp"
#include "sim/plan/input/checkpoint_lanes.hpp"
#include "sim/plan/input/input_lanes.hpp"
#include "sim/plan/program/stage_program.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/scenario/rank_order.hpp"

namespace stepsim {
namespace {

/// What tells ranks apart, in few words: 16,384 of them are told apart for each point of a sweep.
struct ProgramKey {
  int groups = 0;  ///< the number of the shapes of its groups
  int stage = 0;
  bool loads = false;
  std::array<bool, 2> writes{};
  Slowness slow{};
  int collects_early = 0;
  auto operator<=>(const ProgramKey&) const = default;
};

/// The first tensor rank of stages that need input.
bool loads(const Scenario& scenario, const Placement& placement, const RankPlace& place) {
  if (!scenario.data || place.tensor != 0) return false;
  for (int chunk = 0; chunk < scenario.parallelism.pipeline.chunks; ++chunk) {
    if (placement.needs_batch({place.stage, chunk})) return true;
  }
  return false;
}

int collects_early(const Scenario& scenario, int rank) {
  const auto& collection = scenario.host.garbage_collection;
  return collection && !collection->aligned ? rank % collection->every : 0;
}

/// Everything that the program of a rank depends on; ranks of equal shape share one program.
StageShape shape_of(const Plan& plan, const ProgramKey& key, int rank) {
  StageShape result{.stage = key.stage,
                    .loads = key.loads,
                    .writes = key.writes,
                    .slow = key.slow,
                    .collects_early = key.collects_early};
  const auto& groups = plan.groups_of(rank);
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    if (groups[channel] < 0) continue;
    const GroupShape& shape = plan.groups[static_cast<std::size_t>(groups[channel])].shape;
    if (channel < kCollectiveChannels) {
      result.groups[channel] = shape;
    } else {
      result.between_nodes[channel - kCollectiveChannels] = shape.nodes > 1;
    }
  }
  return result;
}

/// Throws UserError as soon as it shows that the plan has too many tasks: each stage has a program
/// at least, of about as many tasks as those before.
void check_size(const Scenario& scenario, const std::vector<Program>& programs) {
  double tasks = 0;
  for (const Program& program : programs) tasks += static_cast<double>(program.tasks.size());
  const auto there = static_cast<double>(programs.size());
  const double count = std::max<double>(there, scenario.parallelism.pipeline.stages);
  if (tasks / there * count <= kMostTasks) return;
  throw UserError(fmt::format(
      "{:.0f} kinds of ranks x {:.2g} tasks = {:.2g} tasks, more than {:.0g}: simulate fewer steps "
      "(run.steps, run.warmup), micro-batches (training.global_batch) or stages "
      "(parallelism.pipeline.stages)",
      count, tasks / there, tasks / there * count, kMostTasks));
}

int program_of(PlanDraft& draft, std::map<StageShape, int>& programs, const StageShape& shape) {
  const auto [entry, is_new] =
      programs.emplace(shape, static_cast<int>(draft.plan.programs.size()));
  if (is_new) {
    draft.plan.programs.push_back(stage_program(draft, entry->first));
    check_size(draft.scenario, draft.plan.programs);
  }
  return entry->second;
}

/// Whether nothing but its place makes a rank unlike those that hold other data indices: what is
/// laid out for one of them then holds for all.
bool differs_by_place_only(const Scenario& scenario, const OpGraph& graph) {
  const auto& collection = scenario.host.garbage_collection;
  return scenario.faults == Faults{} && !scenario.data && !scenario.checkpoint &&
         scenario.cluster.background.empty() && graph.first_chain.empty() &&
         (!collection || collection->aligned);
}

/// Adds programs of the ranks from the first that has none up to `end`; they run the draft's graph.
/// `slowness`: of each rank; {}: none is slow.
void add_programs(PlanDraft& draft, const Shared<std::vector<int>>& kinds,
                  const std::vector<Slowness>& slowness, int end) {
  const auto slowness_of = [&](int rank) {
    return slowness.empty() ? Slowness{} : slowness[static_cast<std::size_t>(rank)];
  };
  const Scenario& scenario = draft.scenario;
  Plan& plan = draft.plan;
  const Placement placement = placement_of(scenario);
  const RankOrdering order(scenario);
  std::map<StageShape, int> programs;
  std::map<ProgramKey, int> known;
  auto last = known.end();
  for (int rank = static_cast<int>(plan.program_of.size()); rank < end; ++rank) {
    if (plan.blocks.block_of(rank) != 0) {
      const int like = plan.blocks.first_like(rank);
      plan.program_of.push_back(plan.program_of[static_cast<std::size_t>(like)]);
      continue;
    }
    const RankPlace place = order.place_of(rank);
    const ProgramKey key{
        kinds[plan.blocks.index_of(rank)], place.stage,       loads(scenario, placement, place),
        writes_of(plan, scenario, rank),   slowness_of(rank), collects_early(scenario, rank)};
    if (last == known.end() || last->first != key) {  // neighbours mostly are alike
      bool is_new = false;
      std::tie(last, is_new) = known.emplace(key, 0);
      if (is_new) last->second = program_of(draft, programs, shape_of(plan, key, rank));
    }
    plan.program_of.push_back(last->second);
  }
}

}  // namespace

void check_groups(const Scenario& scenario, const OpGraph& graph) {
  Plan plan(scenario.cluster);
  add_groups(plan, scenario, graph, LayOut::first_block);
  check_stated_collectives(plan, scenario);
}

Plan make_plan(const Scenario& scenario, const OpGraph& graph, const PlanOptions& options) {
  Plan plan(scenario.cluster, options.cache);
  plan.warmup = scenario.run.warmup;
  plan.steps = scenario.run.warmup + scenario.run.steps;
  plan.engine = scenario.run.engine;
  const bool by_block = options.folds && differs_by_place_only(scenario, graph);
  const auto kinds =
      add_groups(plan, scenario, graph, by_block ? LayOut::first_block : LayOut::all_ranks);
  check_stated_collectives(plan, scenario);
  const std::vector<bool> saves = steps_that_save(scenario, options);
  std::vector<Slowness> slowness;
  if (!scenario.faults.slow_gpus.empty()) slowness = slowness_of_ranks(scenario, options);
  if (!graph.first_chain.empty()) {
    const OpGraph first = graph_of_first(graph);
    PlanDraft draft{.scenario = scenario, .graph = first, .plan = plan, .saves = saves};
    add_programs(draft, kinds, slowness, 1);
  }
  PlanDraft draft{.scenario = scenario, .graph = graph, .plan = plan, .saves = saves};
  add_programs(draft, kinds, slowness, scenario.cluster.gpus());
  InputLinks links;
  if (scenario.data) links = add_input(plan, scenario, options);
  if (std::ranges::find(saves, true) != saves.end())
    add_checkpoint_lanes(plan, scenario, links.storage);
  add_faults(plan, scenario, options);
  return plan;
}

}  // namespace stepsim
