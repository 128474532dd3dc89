// Changes of the pipeline: no bubble, and other orders.
#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/plan/what_if.hpp"

namespace stepsim {
namespace {

bool has_stages(const Scenario& scenario) { return scenario.parallelism.pipeline.stages > 1; }

const Registered<Limit> bubble{{
    .name = "bubble",
    .bound = "bubble-bound",
    .waits = "for other stages",
    .world = "without a pipeline bubble",
    .causes = {Cause::pipeline_bubble},
    .applies = has_stages,
    .plan = without_bubble,
    .proposals = {"pipeline", "micro-batches"},
}};

std::vector<Change> changes(const Scenario& scenario) {
  if (!has_stages(scenario)) return {};
  std::vector<Change> changes;
  for (const Schedule* schedule : Registry<Schedule>::all()) {
    if (schedule->name == scenario.parallelism.pipeline.schedule) continue;
    const ScheduleNeeds& needs = schedule->needs;
    changes.push_back(
        {.settings = {fmt::format("parallelism.pipeline.schedule={}", schedule->name),
                      fmt::format("parallelism.pipeline.chunks={}", needs.least_chunks)}});
    // With more chunks, transfers overlap by default.
    if (needs.overlaps && needs.least_chunks == 1)
      changes.back().settings.emplace_back("parallelism.pipeline.overlap_p2p=true");
  }
  if (!scenario.parallelism.pipeline.overlap_p2p)
    changes.push_back({.settings = {"parallelism.pipeline.overlap_p2p=true"}});
  return changes;
}

const Registered<Proposal> pipeline{{.name = "pipeline", .changes = changes}};

}  // namespace
}  // namespace stepsim
