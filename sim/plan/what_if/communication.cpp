// How ranks communicate: what is hidden under compute, in which pieces, by which algorithm.
#include <cmath>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"
#include "sim/plan/what_if.hpp"

namespace stepsim {
namespace {

void set(std::vector<Change>& changes, bool worth_it, const std::string& setting) {
  if (worth_it) changes.push_back({.settings = {setting}});
}

std::vector<Change> switches(const Scenario& scenario) {
  const Parallelism& split = scenario.parallelism;
  const bool data = scenario.data_parallel() > 1;
  const bool gathers = data && split.data.sharding == Sharding::zero3;
  std::vector<Change> changes;
  set(changes, data && !split.data.overlap, "parallelism.data.overlap=true");
  set(changes, data && !split.data.no_sync, "parallelism.data.no_sync=true");
  const bool updates_shards =
      data && (split.data.sharding == Sharding::zero1 || split.data.sharding == Sharding::zero2);
  set(changes, updates_shards && split.data.overlap && !split.data.overlap_param_gather,
      "parallelism.data.overlap_param_gather=true");
  set(changes, data && !gathers && split.data.check_for_nan_in_grad,
      "parallelism.data.check_for_nan_in_grad=false");
  set(changes, gathers && !split.data.forward_prefetch, "parallelism.data.forward_prefetch=true");
  set(changes, gathers && split.data.backward_prefetch != Prefetch::pre,
      "parallelism.data.backward_prefetch=pre");
  set(changes, gathers && split.data.limit_all_gathers, "parallelism.data.limit_all_gathers=false");
  set(changes, gathers && split.data.reshard_after_forward != Reshard::none,
      "parallelism.data.reshard_after_forward=none");
  set(changes, split.tensor > 1 && !split.overlap_tensor && !(split.dtensor && split.sequence),
      "parallelism.overlap_tensor=true");
  set(changes, split.tensor > 1 && !split.sequence, "parallelism.sequence=true");
  return changes;
}

/// In whole units, as people write it.
std::string written(Bytes size) {
  const double bytes = std::round(size.bytes());
  if (std::fmod(bytes, 0x1p20) == 0) return fmt::format("{:.0f} MiB", bytes / 0x1p20);
  return fmt::format("{:.0f} B", bytes);
}

std::vector<Change> buckets(const Scenario& scenario) {
  const DataParallel& data = scenario.parallelism.data;
  if (scenario.data_parallel() == 1 || data.sharding == Sharding::zero3) return {};
  std::vector<Change> changes;
  for (const double factor : {0.25, 0.5, 2.0, 4.0})
    set(changes, true, "parallelism.data.bucket=" + written(data.bucket * factor));
  return changes;
}

/// Splits that need less communication, and more memory.
std::vector<Change> smaller_splits(const Scenario& scenario) {
  const Parallelism& split = scenario.parallelism;
  std::vector<Change> changes;
  set(changes, split.tensor > 1, fmt::format("parallelism.tensor={}", split.tensor / 2));
  if (scenario.data_parallel() == 1) return changes;
  const Sharding sharding = split.data.sharding;
  set(changes, sharding == Sharding::zero3, "parallelism.data.sharding=zero2");
  set(changes, sharding >= Sharding::zero2, "parallelism.data.sharding=zero1");
  set(changes, sharding >= Sharding::zero1, "parallelism.data.sharding=ddp");
  const int inside = scenario.cluster.gpus_per_node / split.tensor;
  set(changes,
      sharding != Sharding::ddp && !split.data.shard_degree && inside > 1 &&
          inside < scenario.data_parallel(),
      fmt::format("parallelism.data.shard_degree={}", inside));
  return changes;
}

/// Instead of the choices that NCCL makes by size.
std::vector<Change> algorithms(const Scenario& scenario) {
  if (scenario.replicas() == 1 && scenario.parallelism.tensor == 1) return {};
  const Collectives& now = scenario.collectives;
  std::vector<Change> changes;
  for (const CollectiveAlgorithm* algorithm : Registry<CollectiveAlgorithm>::all()) {
    const auto choose = [&](const char* key, CollectiveOp op, const CollectiveChoice& choice) {
      set(changes, algorithm->name != choice.algorithm && algorithm->makes(op),
          fmt::format("collectives.{}={}", key, algorithm->name));
    };
    choose("all_reduce", CollectiveOp::all_reduce, now.all_reduce);
    choose("all_gather", CollectiveOp::all_gather, now.all_gather);
    choose("reduce_scatter", CollectiveOp::reduce_scatter, now.reduce_scatter);
  }
  for (const char* protocol : {"ll", "ll128", "simple"}) {
    set(changes, !now.all_reduce.protocol,
        fmt::format("collectives.all_reduce.protocol={}", protocol));
  }
  return changes;
}

const Registered<Proposal> overlap{{.name = "overlap", .changes = switches}};
const Registered<Proposal> bucket{{.name = "buckets", .changes = buckets}};
const Registered<Proposal> split{{.name = "split", .changes = smaller_splits}};
const Registered<Proposal> collective{{.name = "collectives", .changes = algorithms}};

}  // namespace
}  // namespace stepsim
