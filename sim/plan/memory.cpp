// Memory by stage and category.
#include "sim/plan/memory.hpp"

#include <algorithm>

#include "sim/core/error.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/plan/segment.hpp"

namespace stepsim {
namespace {

constexpr const char* kActivations = "activations";

double optimizer_bytes(const Training& training) {
  const double master = bytes_per_element(training.precision) < 4 ? 4 : 0;
  switch (training.optimizer) {
    case Optimizer::sgd:
      return master;
    case Optimizer::momentum:
      return master + 4;
    case Optimizer::adam:
      return master + 8;
  }
  throw InternalError("an optimizer without state");
}

/// The most that the schedule holds at one time, over the chunks of a stage.
Bytes peak_activations(const Scenario& scenario, const OpGraph& graph, int stage) {
  const Pipeline& pipeline = scenario.parallelism.pipeline;
  const Schedule& schedule = schedule_of(pipeline.schedule);
  std::vector<Bytes> of_chunk;
  for (int chunk = 0; chunk < pipeline.chunks; ++chunk)
    of_chunk.push_back(pass_activations(scenario, graph, stage, chunk));
  Bytes now;
  Bytes peak;
  for (const Action& action :
       schedule.order({pipeline.stages, scenario.micro_batches(), pipeline.chunks}, stage)) {
    now += of_chunk[static_cast<std::size_t>(action.chunk)] * (action.forward ? 1 : -1);
    peak = std::max(peak, now);
  }
  return peak;
}

/// What recompute brings back for the one block whose backward runs.
Bytes recomputed(const Scenario& scenario, const OpGraph& graph, int stage) {
  Bytes most;
  const Recompute recompute = scenario.training.recompute;
  for (int chunk = 0; chunk < scenario.parallelism.pipeline.chunks; ++chunk) {
    for (const std::size_t index : blocks_of(scenario, graph, stage, chunk)) {
      const Block& block = graph.blocks[index];
      most = std::max(most, block.saved(Recompute::none) - block.saved(recompute));
    }
  }
  return most;
}

/// Sharded gradients of an interleaved stage: whole for the chunk that runs and the one being
/// reduced.
Bytes whole_gradients(const Scenario& scenario, double parameters) {
  const int chunks = scenario.parallelism.pipeline.chunks;
  if (!strategy_of(scenario.parallelism.data.sharding).shards_gradients || chunks == 1 ||
      scenario.data_parallel() == 1)
    return Bytes{0};
  return Bytes{parameters * gradient_bytes(scenario) * std::min(2.0 / chunks, 1.0)};
}

/// ZeRO-3 holds two gathered blocks and one block of whole gradients, and what forward does not
/// give up: parameters that are too small to be sharded, and blocks that backward does not gather
/// again.
Bytes gathered(const Scenario& scenario, const OpGraph& graph) {
  const Reshard reshard = scenario.parallelism.data.reshard_after_forward;
  double largest = 0, largest_passing = 0, kept = 0;
  for (const std::size_t index : graph.chain) {
    const Block& block = graph.blocks[index];
    const GatheredElements elements = gathered_elements(scenario, block);
    const bool passes =
        reshard == Reshard::all || (reshard == Reshard::layers && block.recomputable);
    largest = std::max(largest, block.parameters());
    if (passes) largest_passing = std::max(largest_passing, elements.each_pass);
    kept += elements.persistent + (passes ? 0 : elements.each_pass);
  }
  const double element = bytes_per_element(scenario.training.precision);
  return Bytes{(2 * largest_passing + kept) * element + largest * gradient_bytes(scenario)};
}

}  // namespace

BytesPerParameter bytes_per_parameter(const Training& training, Sharding sharding,
                                      int data_parallel) {
  const ShardingStrategy& strategy = strategy_of(sharding);
  return {bytes_per_element(training.precision) * share(strategy.shards_parameters, data_parallel),
          bytes_per_element(training.gradients) * share(strategy.shards_gradients, data_parallel),
          optimizer_bytes(training) * share(strategy.shards_optimizer, data_parallel)};
}

BytesPerParameter bytes_per_parameter(const Scenario& scenario) {
  const DataParallel& data = scenario.parallelism.data;
  BytesPerParameter each =
      bytes_per_parameter(scenario.training, data.sharding, scenario.data_parallel());
  if (data.no_sync && scenario.micro_batches() > 1)
    each.gradients = bytes_per_element(scenario.training.gradients);
  return each;
}

double stage_parameters(const Scenario& scenario, const OpGraph& graph, int stage) {
  double sum = 0;
  for (int chunk = 0; chunk < scenario.parallelism.pipeline.chunks; ++chunk) {
    for (const std::size_t block : blocks_of(scenario, graph, stage, chunk))
      sum += graph.blocks[block].parameters();
  }
  return sum;
}

Bytes pass_activations(const Scenario& scenario, const OpGraph& graph, int stage, int chunk) {
  Bytes sum;
  for (const std::size_t block : blocks_of(scenario, graph, stage, chunk)) {
    sum += graph.blocks[block].saved(scenario.training.recompute);
  }
  return sum;
}

StageMemory memory_of_stage(const Scenario& scenario, const OpGraph& graph, int stage) {
  const DataParallel& data = scenario.parallelism.data;
  const BytesPerParameter each = bytes_per_parameter(scenario);
  const double parameters = stage_parameters(scenario, graph, stage);
  StageMemory memory{
      stage,
      {{"parameters", Bytes{parameters * each.parameters}},
       {"gradients", Bytes{parameters * each.gradients} + whole_gradients(scenario, parameters)},
       {"optimizer", Bytes{parameters * each.optimizer}},
       {kActivations, peak_activations(scenario, graph, stage)},
       {"recomputed", recomputed(scenario, graph, stage)}}};
  if (strategy_of(data.sharding).shards_parameters && scenario.data_parallel() > 1) {
    memory.categories.emplace_back("gathered", gathered(scenario, graph));
  }
  memory.categories.emplace_back("reserved", scenario.cluster.gpu.reserved);
  return memory;
}

Bytes resident_bytes(const Scenario& scenario, const OpGraph& graph, int stage) {
  const StageMemory memory = memory_of_stage(scenario, graph, stage);
  Bytes sum = memory.total();
  for (const auto& [category, bytes] : memory.categories) {
    if (category == kActivations) sum -= bytes;
  }
  return sum;
}

std::vector<StageMemory> memory_by_stage(const Scenario& scenario, const OpGraph& graph) {
  std::vector<StageMemory> stages;
  for (int stage = 0; stage < scenario.parallelism.pipeline.stages; ++stage) {
    stages.push_back(memory_of_stage(scenario, graph, stage));
  }
  return stages;
}

}  // namespace stepsim
