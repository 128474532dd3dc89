// Finds which links a rank's loaders and copies cross, and whether they fit into their node.
#include "sim/plan/input/input_lanes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

/// The number of ranks of each node that load.
std::vector<int> loaders_by_node(const Plan& plan, const Scenario& scenario) {
  std::vector<int> loaders(static_cast<std::size_t>(scenario.cluster.nodes), 0);
  for (int rank = 0; rank < scenario.cluster.gpus(); ++rank) {
    if (plan.program(rank).readers > 0)
      ++loaders[static_cast<std::size_t>(plan.network.node_of(rank))];
  }
  return loaders;
}

/// Batches that a worker, or a rank without workers, holds at a time.
double batches_held(const Input& d) { return d.workers > 0 ? d.prefetch : 1; }

void check_memory(const Plan& plan, const Scenario& scenario) {
  const Input& d = *scenario.data;
  if (!d.host_memory) return;
  const auto by_node = loaders_by_node(plan, scenario);
  const int loaders = *std::ranges::max_element(by_node);
  const int workers = std::max(d.workers, 1);
  const Bytes batch = d.device_bytes * static_cast<double>(scenario.training.micro_batch);
  const Bytes each = d.worker_memory + batch * batches_held(d);
  const Bytes all = each * static_cast<double>(loaders * workers);
  if (all <= *d.host_memory) return;
  throw UserError(fmt::format(
      "out of memory in a node: {} GPUs x {} workers x ({:.3g} GiB + {} batches of {:.3g} GiB) = "
      "{:.1f} GiB, but data.host_memory is {:.1f} GiB: fewer workers or less prefetch fit",
      loaders, workers, d.worker_memory.gibibytes(), batches_held(d), batch.gibibytes(),
      all.gibibytes(), d.host_memory->gibibytes()));
}

void set_lane(Plan& plan, Lane lane, const SharedLinks& links, bool through_nic = false) {
  if (links.empty() && !through_nic) return;
  for (std::size_t rank = 0; rank < plan.program_of.size(); ++rank) {
    const auto r = static_cast<int>(rank);
    if (plan.program(r).readers == 0) continue;
    std::vector<LinkId>& crossed = plan.lanes[rank][static_cast<std::size_t>(lane)];
    crossed = links.crossed_from(plan.network.node_of(r));
    if (through_nic) crossed.push_back(plan.network.nic_in(r));
  }
}

void limit(Plan& plan, Lane lane, BytesPerSecond rate) {
  plan.lane_rates[static_cast<std::size_t>(lane)] = rate;
}

/// Adds the lanes of copies: from the host a copy enters the GPU's slot where traffic of its NIC
/// does.
void add_copies(Plan& plan, const Scenario& scenario) {
  if (!shares_slot(plan.network, scenario.cluster)) return;
  for (std::size_t rank = 0; rank < plan.program_of.size(); ++rank) {
    const auto r = static_cast<int>(rank);
    if (plan.program(r).readers == 0) continue;
    plan.lanes[rank][static_cast<std::size_t>(Lane::host_to_device)] = {
        plan.network.from_nic(r).back()};
  }
  limit(plan, Lane::host_to_device, copy_rate(scenario));
}

}  // namespace

bool shares_slot(const Network& network, const Cluster& cluster) {
  return cluster.inter_node && !network.from_nic(0).empty();
}

BytesPerSecond copy_rate(const Scenario& scenario) {
  const Input& d = *scenario.data;
  const GpuProfile& gpu = scenario.cluster.gpu;
  return d.h2d_bandwidth.value_or(d.pinned ? gpu.copy_pinned : gpu.copy_pageable);
}

InputLinks add_input(Plan& plan, const Scenario& scenario, const PlanOptions& options) {
  check_memory(plan, scenario);
  plan.lanes.resize(plan.program_of.size());
  InputLinks links = add_input_links(plan.network, scenario);
  const Storage& storage = scenario.data->storage;
  if (moves_bytes(storage))
    set_lane(plan, Lane::storage, links.reads(), storage.through == StoragePath::fabric);
  if (storage.stream_bandwidth > BytesPerSecond{0})
    limit(plan, Lane::storage, storage.stream_bandwidth);
  set_lane(plan, Lane::page_cache, links.page_cache);
  set_lane(plan, Lane::cores, links.cores);
  limit(plan, Lane::cores, BytesPerSecond{kCoreSecond});
  add_copies(plan, scenario);
  const auto& variation = scenario.data->variation;
  if (!variation) return links;
  plan.sample_draws = {
      Registry<Distribution>::find(variation->distribution)->quantile(variation->spread),
      key_of(scenario.run, options.replica, Drawn::samples),
      static_cast<int>(scenario.training.micro_batch)};
  return links;
}

}  // namespace stepsim
