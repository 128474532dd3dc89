// Adds up what an update works with: gradients in fp32, and the matrix that needs most.
#include "sim/plan/memory/update_memory.hpp"

#include <algorithm>

#include "sim/plan/matrix_owners.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/pass/buckets.hpp"
#include "sim/plan/program/preconditioning.hpp"
#include "sim/plan/program/stage_blocks.hpp"
#include "sim/scenario/rank_order.hpp"

namespace stepsim {
namespace {

constexpr double kBf16 = 2;
constexpr double kSubGroup = 1e9;  ///< elements, DeepSpeed's default of sub_group_size

/// Copies in fp32 of narrow gradients, which an update of master weights reads (NVIDIA/Megatron-LM
/// megatron/core/optimizer/distrib_optimizer.py, _copy_model_grads_to_main_grads). DeepSpeed joins
/// its share before it casts that (deepspeedai/DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py,
/// step), and casts a sub-group of stage 3 at a time (stage3.py, sub_group_size).
Bytes wide_gradients(const Scenario& scenario, const OpGraph& graph, int stage) {
  const Training& training = scenario.training;
  const DataParallel& data = scenario.parallelism.data;
  const double narrow = gradient_bytes(scenario);
  if (data.offload_optimizer || !keeps_master_weights(training) || casts_in_update(training) ||
      narrow >= kFp32)
    return Bytes{0};
  double elements = stage_parameters(scenario, graph, stage).kept(data.sharding.shards_optimizer);
  const bool is_deepspeed = scenario.framework == Framework::deepspeed;
  if (is_deepspeed && data.sharding.shards_parameters) elements = std::min(elements, kSubGroup);
  const bool joins = is_deepspeed && data.sharding.shards_optimizer;
  return Bytes{elements * (kFp32 + (joins ? narrow : 0))};
}

/// Updates of all matrices in 16 bits, which ranks that take turns sum; each is widened by itself
/// (KellerJordan/modded-nanogpt, records/track_1_short/2024-10-17_DistributedMuon, Muon.step,
/// updates_flat).
Bytes summed_updates(const Scenario& scenario, const OpGraph& graph, int stage) {
  if (!sums_updates(scenario)) return Bytes{0};
  const StageParameters p = stage_parameters(scenario, graph, stage);
  return Bytes{kBf16 * ((p.replicas > 1 ? p.matrices.all : 0) +
                        (p.expert_replicas > 1 ? p.expert_matrices.all : 0))};
}

}  // namespace

Bytes update_bytes(const WeightMatrix& matrix, const Muon& muon, std::int64_t ranks) {
  double iterated = 0, whole = 0;
  for (const std::int64_t rows : parts_of(matrix)) {
    const Orthogonalised part = orthogonalised(rows, matrix.columns, matrix.split, ranks, muon);
    const double elements = part.matrix.elements();
    if (part.gathers) whole = std::max(whole, kFp32 * elements);
    iterated = std::max(
        {iterated, (kFp32 + kBf16) * elements, 2 * kBf16 * (elements + part.matrix.squared())});
  }
  return Bytes{(muon.nesterov ? kFp32 : 0) * matrix.elements() + whole + iterated};
}

Bytes update_bytes(const Scenario& scenario, const OpGraph& graph, int stage) {
  const Training& training = scenario.training;
  const MatrixUpdate update = optimizer_rule(training).matrices;
  const Muon muon = training.muon_keys();
  const Preconditioner preconditioner = training.preconditioner_keys();
  Bytes most;
  for (int chunk = 0; chunk < scenario.parallelism.pipeline.chunks; ++chunk) {
    for (const bool expert : {false, true}) {
      const auto blocks = blocks_of(scenario, graph, stage, chunk);
      for (const WeightMatrix* matrix : matrices_of(scenario, graph, blocks, expert))
        most = std::max(most, update == MatrixUpdate::orthogonal
                                  ? update_bytes(*matrix, muon, degree_of(matrix->axis, scenario))
                                  : preconditioning_bytes(*matrix, preconditioner, update));
    }
  }
  return most + wide_gradients(scenario, graph, stage) + summed_updates(scenario, graph, stage);
}

}  // namespace stepsim
