// What can be otherwise in a recorded step.
#include "sim/replay/changes.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/plan/what_if.hpp"

namespace stepsim {
namespace {

/// The callers of most waits are few; each is one simulation.
constexpr std::size_t kCallers = 4;

bool has(const Plan& plan, Cause cause) {
  return std::ranges::any_of(plan.programs.front().tasks, [cause](const Task& task) {
    return task.kind == TaskKind::timer && task.cause == cause && task.amount > 0;
  });
}

/// Timers of that cause take no time.
Plan without(Plan plan, Cause cause) {
  for (Task& task : plan.programs.front().tasks) {
    if (task.kind == TaskKind::timer && task.cause == cause) task.amount = 0;
  }
  return plan;
}

/// What the host waits for is alike for all of a caller's waits.
std::vector<PlannedChange> fewer_waits(const ReplayPlan& replay) {
  std::vector<std::vector<TaskIndex>> by_caller(replay.callers.size());
  std::vector<TaskIndex> all;
  for (const ReplayedWait& wait : replay.waits) {
    by_caller[wait.caller].push_back(wait.task);
    all.push_back(wait.task);
  }
  const char* for_what = replay.is_of_core ? "for communication" : "for the GPU";
  std::vector<PlannedChange> changes;
  for (std::size_t caller = 0; caller < by_caller.size(); ++caller) {
    changes.push_back({.name = fmt::format("wait in {}", replay.callers[caller]),
                       .sentence = fmt::format("{} does not wait {} ({} x)", replay.callers[caller],
                                               for_what, by_caller[caller].size()),
                       .without = std::move(by_caller[caller])});
  }
  std::ranges::stable_sort(changes, std::ranges::greater{},
                           [](const PlannedChange& change) { return change.without.size(); });
  if (changes.size() > kCallers) changes.resize(kCallers);
  if (by_caller.size() > 1)
    changes.push_back({.name = "all waits",
                       .sentence = fmt::format("the host never waits {}", for_what),
                       .without = std::move(all)});
  return changes;
}

}  // namespace

std::vector<PlannedChange> changes_of(const ReplayPlan& replay) {
  std::vector<PlannedChange> changes;
  if (has(replay.plan, exposed(Axis::data))) {
    changes.push_back({"network",
                       "communication takes no time",
                       [](const ReplayPlan& of) { return with_communication(of.plan, 0); },
                       {}});
    changes.push_back({"network x 2",
                       "communication takes half its time",
                       [](const ReplayPlan& of) { return with_communication(of.plan, 0.5); },
                       {}});
  }
  if (!replay.slow_products.empty())
    changes.push_back({"products",
                       "products of matrices reach the rates of the GPU's profile",
                       with_attainable_products,
                       {}});
  if (has(replay.plan, Cause::batch_wait))
    changes.push_back({"loader",
                       "the loader keeps up",
                       [](const ReplayPlan& of) { return with_free_workers(of.plan); },
                       {}});
  if (has(replay.plan, Cause::garbage_collection))
    changes.push_back(
        {"garbage_collection",
         "Python's collector does not run",
         [](const ReplayPlan& of) { return without(of.plan, Cause::garbage_collection); },
         {}});
  if (has(replay.plan, Cause::recompilation))
    changes.push_back({"recompilation",
                       "nothing is compiled again",
                       [](const ReplayPlan& of) { return without(of.plan, Cause::recompilation); },
                       {}});
  if (has(replay.plan, Cause::cpu_work))
    changes.push_back({"reads",
                       "no value is waited for",
                       [](const ReplayPlan& of) { return without(of.plan, Cause::cpu_work); },
                       {}});
  if (has(replay.plan, Cause::h2d))
    changes.push_back({"input",
                       "the loader keeps up, and copies to the GPU take no time",
                       [](const ReplayPlan& of) { return with_free_input(of.plan); },
                       {}});
  if (!replay.is_of_core)
    changes.push_back({"launches",
                       "operators, calls and Python of the host take no time",
                       [](const ReplayPlan& of) { return with_free_launches(of.plan); },
                       {}});
  for (PlannedChange& change : fewer_waits(replay)) changes.push_back(std::move(change));
  return changes;
}

Plan changed(const ReplayPlan& replay, const PlannedChange& change) {
  return change.plan != nullptr ? change.plan(replay) : without_waits(replay.plan, change.without);
}

Plan with_communication(Plan plan, double factor) {
  for (Task& task : plan.programs.front().tasks) {
    if (task.kind == TaskKind::timer && task.cause == exposed(Axis::data)) task.amount *= factor;
  }
  return plan;
}

Plan with_attainable_products(const ReplayPlan& replay) {
  Plan plan = replay.plan;
  std::vector<Task>& tasks = plan.programs.front().tasks;
  for (const SlowProduct& product : replay.slow_products)
    tasks[product.task].amount *= product.attainable_share;
  return plan;
}

Plan without_waits(Plan plan, const std::vector<TaskIndex>& waits) {
  Program& program = plan.programs.front();
  std::vector<bool> is_free(program.tasks.size());
  for (const TaskIndex wait : waits) is_free[wait] = true;
  std::vector<TaskIndex> successors;
  for (TaskIndex from = 0; from < program.tasks.size(); ++from) {
    const auto first = static_cast<std::uint32_t>(successors.size());
    for (std::uint32_t i = program.tasks[from].first_successor; i < program.end_of_successors(from);
         ++i) {
      const TaskIndex to = program.successors[i];
      if (is_free[to] && program.tasks[to].row != program.tasks[from].row) {
        --program.tasks[to].needs;
      } else {
        successors.push_back(to);
      }
    }
    program.tasks[from].first_successor = first;
  }
  program.successors = std::move(successors);
  return plan;
}

}  // namespace stepsim
