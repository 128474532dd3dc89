// Changes of memory, which make a scenario fit that does not. Where it fits they only take time.
#include "sim/plan/memory/memory.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/what_if.hpp"

namespace stepsim {
namespace {

bool fits(const Scenario& scenario) {
  const auto stages = memory_by_stage(scenario, build(scenario));
  return std::ranges::all_of(stages, [&](const StageMemory& stage) {
    return stage.needed() <= scenario.cluster.gpu.memory;
  });
}

/// Adds changes to more tensor ranks, up to those of a node; twice as many are among the other
/// splits.
void add_tensor_ranks(std::vector<Change>& changes, const Scenario& scenario) {
  const Parallelism& split = scenario.parallelism;
  for (int ranks = 2 * split.tensor; ranks <= scenario.cluster.gpus_per_node; ranks *= 2) {
    const std::string tensor = fmt::format("parallelism.tensor={}", ranks);
    if (ranks > 2 * split.tensor) changes.push_back({.settings = {tensor}});
    if (!split.sequence) changes.push_back({.settings = {tensor, "parallelism.sequence=true"}});
  }
}

std::vector<Change> changes(const Scenario& scenario) {
  if (fits(scenario)) return {};
  const Recompute kind = scenario.training.recompute.kind;
  const DataParallel& data = scenario.parallelism.data;
  const bool shards = scenario.data_parallel() > 1;
  std::vector<Change> changes;
  if (kind == Recompute::none) changes.push_back({.settings = {"training.recompute=selective"}});
  if (kind != Recompute::full) changes.push_back({.settings = {"training.recompute=full"}});
  add_tensor_ranks(changes, scenario);
  if (shards && !data.sharding.shards_parameters && kind != Recompute::full) {
    changes.push_back({.settings = {"parallelism.data.sharding=zero3", "training.recompute=full"}});
  }
  if (shards && data.sharding.shards_parameters && data.reshard_after_forward != Reshard::all)
    changes.push_back({.settings = {"parallelism.data.reshard_after_forward=all"}});
  if (!data.offload_optimizer)
    changes.push_back({.settings = {"parallelism.data.offload_optimizer=true"}});
  return changes;
}

const Registered<Proposal> memory{{.name = "memory", .changes = changes}};

}  // namespace
}  // namespace stepsim
