// The sentences about optimizers that update matrices of hidden layers as matrices.
#include <algorithm>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// Parts of the state that an owner of whole matrices cannot have.
void check_owners(const Scenario& s, const KeyReports& keys) {
  const DataParallel& data = s.parallelism.data;
  const Sharding& sharding = data.sharding;
  if (sharding.shards_gradients) {
    keys.report({"training.optimizer", "use sharding: zero1 or ddp"},
                "{} needs whole matrices, but {} gives each rank a part of each gradient",
                s.training.optimizer, sharding.name);
  }
  if (sharding.shards_optimizer && data.shard_degree) {
    keys.report({"parallelism.data.shard_degree", "leave it out"},
                "{} deals matrices out to all data ranks, not to groups of them",
                s.training.optimizer);
  }
  if (sharding.shards_optimizer && s.training.muon_keys().owners == MuonOwners::round_robin) {
    keys.report({"training.muon.owners", "leave it out, or use sharding: ddp"},
                "owners is about ranks that hold all of the optimizer's state, but {} deals it out",
                sharding.name);
  }
  if (data.offload_optimizer) {
    keys.report({"parallelism.data.offload_optimizer", "leave it out"},
                "{} multiplies matrices, which no update on the CPU does", s.training.optimizer);
  }
}

}  // namespace

void check_muon(const Scenario& s, bool takes_matrices, const KeyReports& keys) {
  if (s.training.muon && !takes_matrices) {
    return keys.report({"training.muon", "state \"optimizer: muon\", or leave it out"},
                       "muon is about an optimizer, but optimizer is {}", s.training.optimizer);
  }
  if (!takes_matrices || !keys.sound({"training.muon", "parallelism.data", "model", "cluster"}))
    return;
  if (s.training.lora) {
    keys.report({"training.optimizer", "use adam"},
                "{} updates matrices of hidden layers, which lora does not train",
                s.training.optimizer);
  }
  const bool has_matrices = std::holds_alternative<Transformer>(s.model.shape) ||
                            std::holds_alternative<Mlp>(s.model.shape);
  if (!has_matrices) {
    keys.report({"training.optimizer", "use adam"},
                "{} updates matrices of hidden layers, which {} has not", s.training.optimizer,
                title_without_tokens(s.model));
  }
  const GpuProfile& gpu = s.cluster.gpu;
  if (std::ranges::none_of(gpu.gemm,
                           [](const GemmProfile& g) { return g.precision == Precision::bf16; })) {
    keys.report({"training.optimizer", "use adam"},
                "{} multiplies in bf16, which GPU profile '{}' does not have", s.training.optimizer,
                gpu.name);
  }
  check_owners(s, keys);
}

}  // namespace stepsim
