// Changes of communication: what is hidden under compute, in which pieces, by which algorithm.
#include <array>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"
#include "sim/plan/what_if.hpp"
#include "sim/scenario/check/gather_keys.hpp"
#include "sim/scenario/describe/frameworks.hpp"
#include "sim/scenario/expert_mesh.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

void set(std::vector<Change>& changes, bool worth_it, const std::string& setting) {
  if (worth_it) changes.push_back({.settings = {setting}});
}

/// The change by a setting that makes the data parallelism `other`; where `other` gathers no
/// longer, settings about gathers go.
Change without_idle_gathers(const Scenario& scenario, const std::string& setting,
                            const DataParallel& other) {
  DataParallel sound = other;
  drop_idle_gathers(sound);
  Change change{.settings = {setting}};
  const DataParallel by_itself = default_data(scenario.framework);
  for (const DataSwitch& key : kGatherKeys) {
    if (other.*key.value && !(sound.*key.value) && !(by_itself.*key.value))
      change.settings.push_back(fmt::format("parallelism.data.{}=false", key.name));
  }
  return change;
}

bool always(const DataParallel&) { return true; }
bool gathers_ahead(const DataParallel& data) { return data.sharding.shards_parameters; }

/// The switches that decide when something is done, and not what. Each is worth a try in either
/// position: what runs beside compute takes SMs from it, and nobody waits for what all stages do
/// at once.
constexpr std::array kTimingSwitches{
    DataSwitch{"overlap", &DataParallel::overlap, always},
    DataSwitch{"no_sync", &DataParallel::no_sync, always},
    kOverlapParamGather,
    kAlignParamGather,
    DataSwitch{"forward_prefetch", &DataParallel::forward_prefetch, gathers_ahead},
    DataSwitch{"limit_all_gathers", &DataParallel::limit_all_gathers, gathers_ahead},
    DataSwitch{"limit_reduce_scatters", &DataParallel::limit_reduce_scatters, gathers_ahead},
};

std::vector<Change> data_switches(const Scenario& scenario) {
  const DataParallel& data = scenario.parallelism.data;
  const bool gathers = data.sharding.shards_parameters;
  std::vector<Change> changes;
  for (const DataSwitch& each : kTimingSwitches) {
    if (!each.applies(data)) continue;
    DataParallel other = data;
    other.*each.value = !(data.*each.value);
    const auto setting = fmt::format("parallelism.data.{}={}", each.name, other.*each.value);
    changes.push_back(without_idle_gathers(scenario, setting, other));
  }
  set(changes, !gathers && data.check_for_nan_in_grad,
      "parallelism.data.check_for_nan_in_grad=false");
  set(changes, gathers && data.backward_prefetch != Prefetch::pre,
      "parallelism.data.backward_prefetch=pre");
  set(changes, gathers && data.reshard_after_forward != Reshard::none,
      "parallelism.data.reshard_after_forward=none");
  return changes;
}

std::vector<Change> switches(const Scenario& scenario) {
  const Parallelism& split = scenario.parallelism;
  std::vector<Change> changes;
  if (scenario.data_parallel() > 1) changes = data_switches(scenario);
  set(changes, split.tensor > 1 && !(split.dtensor && split.sequence),
      fmt::format("parallelism.overlap_tensor={}", !split.overlap_tensor));
  set(changes, split.tensor > 1 && !(split.dtensor && split.sequence),
      fmt::format("parallelism.sequence={}", !split.sequence));
  return changes;
}

/// A size in whole units, as people write it in a shell.
std::string written(Bytes size) {
  const double bytes = std::round(size.bytes());
  if (std::fmod(bytes, 0x1p20) == 0) return fmt::format("{:.0f}MiB", bytes / 0x1p20);
  return fmt::format("{:.0f}B", bytes);
}

std::vector<Change> buckets(const Scenario& scenario) {
  const DataParallel& data = scenario.parallelism.data;
  if (scenario.data_parallel() == 1 || data.sharding.shards_parameters) return {};
  std::vector<Change> changes;
  for (const double factor : {0.25, 0.5, 2.0, 4.0})
    set(changes, true, "parallelism.data.bucket=" + written(data.bucket * factor));
  return changes;
}

Change resharded(const Scenario& scenario, const Sharding& sharding) {
  DataParallel other = scenario.parallelism.data;
  other.sharding = sharding;
  return without_idle_gathers(scenario, fmt::format("parallelism.data.sharding={}", sharding.name),
                              other);
}

/// A change to half of the tensor ranks; where one rank remains, settings about several go.
Change half_tensor(const Parallelism& split) {
  Change change{.settings = {fmt::format("parallelism.tensor={}", split.tensor / 2)}};
  if (split.tensor > 2) return change;
  if (split.sequence) change.settings.emplace_back("parallelism.sequence=false");
  if (split.dtensor) change.settings.emplace_back("parallelism.dtensor=false");
  if (split.gather_each) change.settings.emplace_back("parallelism.gather_each=false");
  return change;
}

/// Changes to splits that need less communication and more memory, or the other way round.
std::vector<Change> other_splits(const Scenario& scenario) {
  const Parallelism& split = scenario.parallelism;
  std::vector<Change> changes;
  if (split.tensor > 1) changes.push_back(half_tensor(split));
  set(changes, 2 * split.tensor <= scenario.cluster.gpus_per_node,
      fmt::format("parallelism.tensor={}", 2 * split.tensor));
  if (scenario.data_parallel() == 1) return changes;
  const Sharding& sharding = split.data.sharding;
  const auto& all = Registry<Sharding>::all();
  for (auto less = all.rbegin(); less != all.rend(); ++less) {
    if ((*less)->shards() < sharding.shards()) changes.push_back(resharded(scenario, **less));
  }
  for (const Sharding* more : all) {
    if (more->shards() > sharding.shards()) changes.push_back(resharded(scenario, *more));
  }
  const int inside = scenario.cluster.gpus_per_node / split.tensor;
  set(changes,
      sharding.shards() > 0 && !split.data.shard_degree && !split.data.all_reduce_gradients &&
          inside > 1 && inside < scenario.data_parallel(),
      fmt::format("parallelism.data.shard_degree={}", inside));
  return changes;
}

/// Changes to experts over more ranks or fewer: less memory and more to exchange, or the other way
/// round.
std::vector<Change> expert_degrees(const Scenario& scenario) {
  const auto* model = std::get_if<Transformer>(&scenario.model.shape);
  std::vector<Change> changes;
  if (model == nullptr || !model->experts) return changes;
  const ExpertMesh mesh = expert_mesh(scenario);
  const int now = mesh.degree;
  const int ranks = mesh.degree * mesh.replicas;
  for (const int degree : {now / 4, now / 2, now * 2, now * 4}) {
    set(changes, degree >= 1 && model->experts->count % degree == 0 && ranks % degree == 0,
        fmt::format("parallelism.expert.degree={}", degree));
  }
  return changes;
}

/// Changes to one algorithm for all sizes, instead of NCCL's choices by size.
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
const Registered<Proposal> split{{.name = "split", .changes = other_splits}};
const Registered<Proposal> experts{{.name = "experts", .changes = expert_degrees}};
const Registered<Proposal> collective{{.name = "collectives", .changes = algorithms}};

}  // namespace
}  // namespace stepsim
