// Changes of checkpoints: free, and written in other ways.
#include "sim/core/registry.hpp"
#include "sim/plan/what_if.hpp"

namespace stepsim {
namespace {

const Registered<Limit> checkpoint{{
    .name = "checkpoint",
    .bound = "checkpoint-bound",
    .waits = "for checkpoints",
    .world = "with checkpoints written in no time",
    .causes = {Cause::checkpoint},
    // A checkpoint among the simulated steps is needed to make it free.
    .applies = [](const Scenario& s) { return s.simulates_checkpoints(); },
    .plan = with_free_checkpoints,
    .proposals = {"checkpoints"},
}};

void speed_up(Scenario& scenario) {
  CheckpointStorage& storage = *scenario.checkpoint->storage;
  for (BytesPerSecond* rate :
       {&storage.bandwidth, &storage.shared_bandwidth, &storage.stream_bandwidth})
    *rate = *rate * 2;
}

std::vector<Change> changes(const Scenario& scenario) {
  std::vector<Change> changes;
  if (!scenario.simulates_checkpoints()) return changes;
  const Checkpoint& c = *scenario.checkpoint;
  if (c.mode == CheckpointMode::sync) changes.push_back({.settings = {"checkpoint.mode=async"}});
  if (!c.sharded) changes.push_back({.settings = {"checkpoint.sharded=true"}});
  if (c.storage)
    changes.push_back({.title = "checkpoint storage twice as fast", .scenario = speed_up});
  return changes;
}

const Registered<Proposal> checkpoints{{.name = "checkpoints", .changes = changes}};

}  // namespace
}  // namespace stepsim
