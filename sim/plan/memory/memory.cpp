// Sums memory by stage and category.
#include "sim/plan/memory/memory.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/ops/frozen.hpp"
#include "sim/plan/matrix_owners.hpp"
#include "sim/plan/memory/memory_buffers.hpp"
#include "sim/plan/memory/update_memory.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/pass/buckets.hpp"
#include "sim/plan/pass/gathered_parameters.hpp"
#include "sim/plan/program/preconditioning.hpp"
#include "sim/plan/program/stage_blocks.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/plan/sharding.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// Sharded gradients of an interleaved stage that are whole for a time: those of the chunk that
/// runs and of the one that is being reduced.
Bytes whole_gradients(const Scenario& scenario, double parameters) {
  const int chunks = scenario.parallelism.pipeline.chunks;
  const Sharding& sharding = scenario.parallelism.data.sharding;
  // Where parameters are sharded, gradients are whole one block at a time (gathered_bytes).
  if (!sharding.shards_gradients || sharding.shards_parameters || chunks == 1 ||
      replicas(scenario) == 1)
    return Bytes{0};
  return Bytes{parameters * gradient_bytes(scenario) * std::min(2.0 / chunks, 1.0)};
}

/// Whether the sum of earlier micro-batches lies beside the share of the one at hand, as in
/// DeepSpeed's stage 2 (deepspeedai/DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py,
/// copy_grads_in_partition and independent_gradient_partition_epilogue).
bool keeps_share_apart(const Scenario& scenario) {
  const DataParallel& data = scenario.parallelism.data;
  return scenario.framework == Framework::deepspeed && data.sharding.shards_gradients &&
         !data.sharding.shards_parameters && !data.offload_optimizer && !data.no_sync &&
         scenario.micro_batches() > 1;
}

Bytes embedding_tables(const OpGraph& graph) {
  Bytes sum;
  for (const std::size_t index : graph.chain) sum += graph.blocks[index].tables();
  return sum;
}

/// Copies of weights by rows and by columns: of all blocks, or of two where blocks are gathered.
Bytes fp8_weights(const Scenario& scenario, const OpGraph& graph, int stage) {
  const Quantisation recipe = scenario.training.quantisation();
  const int copies = quantised_copies(recipe, scenario.cluster.gpu.architecture);
  const int of_frozen = transposes_frozen(scenario) ? 1 : copies;
  double all = 0, largest = 0;
  for (int chunk = 0; chunk < scenario.parallelism.pipeline.chunks; ++chunk) {
    for (const std::size_t block : blocks_of(scenario, graph, stage, chunk)) {
      const Block& b = graph.blocks[block];
      const double copied = copies * b.quantised() + of_frozen * b.frozen_quantised();
      all += copied;
      largest = std::max(largest, copied);
    }
  }
  const bool gathers = scenario.parallelism.data.sharding.shards_parameters;
  return Bytes{quantised_bytes(recipe) * (gathers ? std::min(all, 2 * largest) : all)};
}

/// Elements of a block's frozen weights that exist in fp8 alone.
double frozen_in_fp8(const Training& training, const Block& block) {
  return training.fp8_parameters ? block.frozen_quantised() : 0;
}

/// Bytes that the rank with most matrices keeps of them: master weights of what it holds, or of
/// what it owns where the optimizer is sharded, and the momentum of what it owns.
double matrix_state(const Scenario& scenario, const StageParameters& p) {
  const bool sharded = scenario.parallelism.data.sharding.shards_optimizer;
  const double owned = p.kept_matrices(true);
  if (owned == 0) return 0;
  return p.kept_matrices(sharded) * master_bytes(scenario.training) +
         owned * matrix_moment_bytes(scenario.training) +
         (p.matrices.statistics + p.expert_matrices.statistics) * kFp32;
}

/// Elements of preconditioners of the rank that has most of them.
double most_statistics(const Training& training, const DealtMatrices& dealt) {
  const MatrixUpdate update = optimizer_rule(training).matrices;
  if (update == MatrixUpdate::orthogonal) return 0;
  const Preconditioner keys = training.preconditioner_keys();
  double most = 0;
  for (const Matrices& owned : dealt.owned) {
    double sum = 0;
    for (const WeightMatrix* matrix : owned) sum += statistics_of(*matrix, keys, update);
    most = std::max(most, sum);
  }
  return most;
}

Bytes frozen_weights(const Scenario& scenario, const OpGraph& graph, int stage) {
  Bytes sum;
  for (int chunk = 0; chunk < scenario.parallelism.pipeline.chunks; ++chunk) {
    for (const std::size_t block : blocks_of(scenario, graph, stage, chunk))
      sum += frozen_bytes(scenario, graph.blocks[block]);
  }
  return sum * frozen_share(scenario);
}

}  // namespace

Bytes frozen_bytes(const Scenario& scenario, const Block& block) {
  const Training& training = scenario.training;
  const bool gathers = scenario.parallelism.data.sharding.shards_parameters;
  const double in_fp8 = frozen_in_fp8(training, block);
  return Bytes{(block.frozen_parameters() - in_fp8) * training.parameter_element() +
               (gathers ? in_fp8 * quantised_bytes(training.quantisation()) : 0)};
}

double frozen_share(const Scenario& scenario) {
  const Sharding& strategy = scenario.parallelism.data.sharding;
  return share(strategy.shards_parameters, sharing_ranks(scenario));
}

/// ZeRO-3 holds two gathered blocks and one block of whole gradients, and besides what forward does
/// not give up: parameters that are too small to be sharded, and blocks that backward does not
/// gather again. Frozen weights of two blocks that come in fp8 are among the fp8 copies.
Bytes gathered_bytes(const Scenario& scenario, const OpGraph& graph,
                     const std::vector<std::size_t>& blocks) {
  if (!scenario.parallelism.data.sharding.shards_parameters || replicas(scenario) == 1)
    return Bytes{0};
  const Reshard reshard = scenario.parallelism.data.reshard_after_forward;
  double largest = 0, largest_passing = 0, kept = 0, kept_in_fp8 = 0;
  for (const std::size_t index : blocks) {
    const Block& block = graph.blocks[index];
    const GatheredElements elements =
        gathered_elements(scenario, block, false) + gathered_elements(scenario, block, true);
    const bool passes =
        reshard == Reshard::all || (reshard == Reshard::layers && block.recomputable);
    const double in_fp8 = std::min(frozen_in_fp8(scenario.training, block), elements.each_pass);
    const double wide = elements.each_pass - in_fp8;
    largest = std::max(largest, block.parameters());
    if (passes) largest_passing = std::max(largest_passing, wide);
    kept += elements.persistent + (passes ? 0 : wide);
    kept_in_fp8 += passes ? 0 : in_fp8;
  }
  const double element = scenario.training.gathered_element();
  return Bytes{(2 * largest_passing + kept) * element +
               kept_in_fp8 * quantised_bytes(scenario.training.quantisation()) +
               largest * gradient_bytes(scenario)};
}

BytesPerParameter bytes_per_parameter(const Training& training, const Sharding& sharding,
                                      int replicas) {
  return {training.parameter_element() * share(sharding.shards_parameters, replicas),
          training.kept_gradient_element() * share(sharding.shards_gradients, replicas),
          optimizer_bytes(training) * share(sharding.shards_optimizer, replicas)};
}

StageParameters::OfMatrices& StageParameters::OfMatrices::operator+=(const OfMatrices& more) {
  all += more.all;
  owned += more.owned;
  padding += more.padding;
  statistics += more.statistics;
  return *this;
}

double StageParameters::kept_matrices(bool sharded) const {
  return sharded ? matrices.owned + expert_matrices.owned : matrices.all + expert_matrices.all;
}

double StageParameters::kept(bool sharded) const {
  return (dense - matrices.all) * share(sharded, replicas) +
         (experts - expert_matrices.all) * share(sharded, expert_replicas) + kept_matrices(sharded);
}

StageParameters chunk_parameters(const Scenario& scenario, const OpGraph& graph, int stage,
                                 int chunk) {
  StageParameters sum{.replicas = sharing_ranks(scenario),
                      .expert_replicas = ranks_sharing_experts(scenario)};
  for (const std::size_t index : blocks_of(scenario, graph, stage, chunk)) {
    const double experts = graph.blocks[index].expert_parameters();
    sum.experts += experts;
    sum.dense += graph.blocks[index].parameters() - experts;
  }
  if (!updates_matrices(scenario.training)) return sum;
  for (const bool expert : {false, true}) {
    const DealtMatrices dealt = owners_of(scenario, graph, blocks_of(scenario, graph, stage, chunk),
                                          expert, expert ? sum.expert_replicas : sum.replicas,
                                          reduces_in_buckets(scenario, stage, chunk));
    double all = 0;
    for (const Matrices& owned : dealt.owned) all += elements_of(owned);
    (expert ? sum.expert_matrices : sum.matrices) = {all, dealt.most_elements(),
                                                     dealt.exchanged - all,
                                                     most_statistics(scenario.training, dealt)};
  }
  return sum;
}

StageParameters stage_parameters(const Scenario& scenario, const OpGraph& graph, int stage) {
  StageParameters sum = chunk_parameters(scenario, graph, stage, 0);
  for (int chunk = 1; chunk < scenario.parallelism.pipeline.chunks; ++chunk) {
    const StageParameters more = chunk_parameters(scenario, graph, stage, chunk);
    sum.dense += more.dense;
    sum.experts += more.experts;
    sum.matrices += more.matrices;
    sum.expert_matrices += more.expert_matrices;
  }
  return sum;
}

StateBytes state_bytes(const Scenario& scenario, const StageParameters& p) {
  const DataParallel& data = scenario.parallelism.data;
  const auto each = [&](int replicas) {
    BytesPerParameter bytes = bytes_per_parameter(scenario.training, data.sharding, replicas);
    // Gradients that several micro-batches add up before they are reduced are whole.
    if (data.no_sync && scenario.micro_batches() > 1) bytes.gradients = gradient_bytes(scenario);
    if (keeps_share_apart(scenario)) bytes.gradients *= 2;
    return bytes;
  };
  const auto dense = each(p.replicas);
  const auto experts = each(p.expert_replicas);
  const double others = (p.dense - p.matrices.all) * dense.optimizer +
                        (p.experts - p.expert_matrices.all) * experts.optimizer;
  return {p.exchanged(false) * dense.parameters + p.exchanged(true) * experts.parameters,
          p.exchanged(false) * dense.gradients + p.exchanged(true) * experts.gradients,
          others + matrix_state(scenario, p)};
}

StateBytes gpu_state(const Scenario& scenario, const StageParameters& parameters) {
  StateBytes state = state_bytes(scenario, parameters);
  const DataParallel& data = scenario.parallelism.data;
  if (!data.offload_optimizer) return state;
  state.optimizer = 0;
  // Sharded gradients leave bucket by bucket: one bucket is being reduced, one copied.
  if (data.sharding.shards_gradients && data.overlap)
    state.gradients = std::min(state.gradients, 2 * data.bucket.bytes());
  return state;
}

Bytes StageMemory::total() const { return needed() + of(MemoryOwner::allocator); }
Bytes StageMemory::allocated() const { return of(MemoryOwner::tensors); }
Bytes StageMemory::reserved() const { return allocated() + of(MemoryOwner::allocator); }
Bytes StageMemory::needed() const { return allocated() + of(MemoryOwner::others); }

Bytes StageMemory::of(MemoryOwner owner) const {
  Bytes sum;
  for (const MemoryCategory& category : categories) {
    if (category.owner == owner) sum += category.bytes;
  }
  return sum;
}

StageMemory memory_of_stage(const Scenario& scenario, const OpGraph& graph, int stage) {
  const StageParameters parameters = stage_parameters(scenario, graph, stage);
  const StateBytes state = gpu_state(scenario, parameters);
  const GpuProfile& gpu = scenario.cluster.gpu;
  const double whole = parameters.total();
  StageMemory memory{
      .stage = stage,
      .categories = {{"parameters",
                      Bytes{state.parameters} + frozen_weights(scenario, graph, stage)},
                     {"gradients", Bytes{state.gradients} + whole_gradients(scenario, whole)},
                     {"optimizer", Bytes{state.optimizer}},
                     {"placeholders", placeholder_bytes(scenario, graph, stage)},
                     {"buckets", bucket_bytes(scenario, whole)},
                     {"workspaces", gpu.workspace}},
      .peak = peak_moment(scenario, graph, stage)};
  if (const Bytes copies = fp8_weights(scenario, graph, stage); copies > Bytes{0})
    memory.categories.push_back(
        {fmt::format("{} weights", name_of(scenario.training.precision)), copies});
  const Working& held = memory.peak.held;
  for (const auto& [name, bytes] :
       {std::pair{"activations", held.activations}, std::pair{"recomputed", held.recomputed},
        std::pair{"logits", held.logits}, std::pair{"working", held.gradients},
        std::pair{"gathered", held.gathered}})
    memory.categories.push_back({name, bytes, MemoryOwner::tensors, true});
  // When weights are updated nothing of a pass is there.
  if (const Bytes update = update_bytes(scenario, graph, stage); update > held.total())
    memory.categories.push_back({"update", update - held.total(), MemoryOwner::tensors, true});
  const Bytes allocated = memory.allocated();
  memory.categories.push_back(
      {"fragmentation", kFragmentation * allocated, MemoryOwner::allocator});
  // Tables are one large allocation each, which nothing comes between.
  if (const Bytes tables = embedding_tables(graph); tables > Bytes{0})
    memory.categories.push_back({"embeddings", tables});
  memory.categories.push_back(
      {"communicators", communicators(scenario) * gpu.communicator, MemoryOwner::others});
  memory.categories.push_back({"context", gpu.context, MemoryOwner::others});
  return memory;
}

Bytes resident_bytes(const Scenario& scenario, const OpGraph& graph, int stage) {
  Bytes sum;
  for (const MemoryCategory& category : memory_of_stage(scenario, graph, stage).categories) {
    if (!category.varies) sum += category.bytes;
  }
  return sum;
}

std::vector<StageMemory> memory_by_stage(const Scenario& scenario, const OpGraph& graph) {
  std::vector<StageMemory> stages;
  for (int stage = 0; stage < scenario.parallelism.pipeline.stages; ++stage) {
    stages.push_back(memory_of_stage(scenario, graph, stage));
  }
  if (!graph.first_chain.empty()) {
    const StageMemory first = memory_of_stage(scenario, graph_of_first(graph), 0);
    if (first.total() > stages.front().total()) stages.front() = first;
  }
  return stages;
}

}  // namespace stepsim
