// Changes of the host's own work: free, left out, or done in step.

#include "sim/core/registry.hpp"
#include "sim/plan/program/launch_time.hpp"
#include "sim/plan/what_if.hpp"

namespace stepsim {
namespace {

/// The plan whose host rows spend no time on `cause`.
Plan without(Plan plan, Cause cause) {
  for (Program& program : plan.programs) {
    for (Task& task : program.tasks) {
      const bool on_host = program.rows[task.row].kind == RowKind::host;
      if (on_host && task.kind == TaskKind::timer && task.cause == cause) task.amount = 0;
    }
  }
  return plan;
}

const Registered<Limit> cpu_work{{
    .name = "cpu_work",
    .bound = "CPU-bound",
    .waits = "for a loss or metrics on the CPU",
    .world = "with free CPU work",
    .causes = {Cause::cpu_work},
    .applies = [](const Scenario& s) { return !s.host.cpu_work.empty(); },
    .plan = [](Plan plan) { return without(std::move(plan), Cause::cpu_work); },
    .proposals = {"host work"},
}};

/// The limit for host work that consists of nothing but a read.
const Registered<Limit> sync{{
    .name = "host_sync",
    .bound = "held up by reading values back",
    .waits = "for a value that the host reads back (host.sync)",
    .world = "with values read back in no time",
    .causes = {Cause::cpu_work},
    .applies =
        [](const Scenario& s) {
          return s.host.cpu_work.empty() && s.host.sync && s.host.sync->time > Seconds{0};
        },
    .plan = [](Plan plan) { return without(std::move(plan), Cause::cpu_work); },
    .proposals = {"host work"},
}};

const Registered<Limit> recompilation{{
    .name = "recompilation",
    .bound = "recompilation-bound",
    .waits = "for a recompilation",
    .world = "without recompilation",
    .causes = {Cause::recompilation},
    .applies = [](const Scenario& s) { return s.host.recompilation.has_value(); },
    .plan = [](Plan plan) { return without(std::move(plan), Cause::recompilation); },
    .proposals = {"host work"},
}};

const Registered<Limit> collection{{
    .name = "garbage_collection",
    .bound = "held up by garbage collection",
    .waits = "for Python's collector",
    .world = "without garbage collection",
    .causes = {Cause::garbage_collection},
    .applies = [](const Scenario& s) { return s.host.garbage_collection.has_value(); },
    .plan = [](Plan plan) { return without(std::move(plan), Cause::garbage_collection); },
    .proposals = {"host work"},
}};

std::vector<Change> changes(const Scenario& scenario) {
  const Host& host = scenario.host;
  std::vector<Change> changes;
  const auto set = [&](bool worth_it, const std::string& setting) {
    if (worth_it) changes.push_back({.settings = {setting}});
  };
  set(!host.cpu_work.empty(), "host.cpu_work=[]");
  set(host.recompilation.has_value(), "host.recompilation=null");
  set(host.garbage_collection.has_value(), "host.garbage_collection=null");
  set(host.garbage_collection && !host.garbage_collection->aligned,
      "host.garbage_collection.aligned=true");
  set(host.sync && host.sync->every < 100, "host.sync.every=100");
  set(host.sync && host.sync->per != ReadPer::step, "host.sync.per=step");
  const Pipeline& pipeline = scenario.parallelism.pipeline;
  set(pipeline.stages > 1 && pipeline.batch_p2p_sync, "parallelism.pipeline.batch_p2p_sync=false");
  set(cpu_slowdown(scenario) > 1, "host.threads=1");
  return changes;
}

const Registered<Proposal> host_work{{.name = "host work", .changes = changes}};

}  // namespace
}  // namespace stepsim
