// The sentences about optimizers that update matrices of hidden layers as matrices.
#include <algorithm>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// The key that says how ranks which hold all of the state share out the update; nullptr: none does.
const char* stated_owners(const Scenario& s) {
  const Training& t = s.training;
  if (t.muon_keys().owners == MuonOwners::round_robin) return "training.muon.owners";
  const bool stated = t.preconditioner && t.preconditioner->owners == PreconditionerOwners::greedy;
  return stated && t.optimizer != kShampoo ? "training.preconditioner.owners" : nullptr;
}

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
  const char* owners = stated_owners(s);
  if (sharding.shards_optimizer && owners != nullptr) {
    keys.report({owners, "leave it out, or use sharding: ddp"},
                "owners is about ranks that hold all of the optimizer's state, but {} deals it out",
                sharding.name);
  }
  if (data.offload_optimizer) {
    keys.report({"parallelism.data.offload_optimizer", "leave it out"},
                "{} multiplies matrices, which no update on the CPU does", s.training.optimizer);
  }
}

/// Keys of other optimizers than the scenario's.
void check_groups(const Scenario& s, MatrixUpdate update, const KeyReports& keys) {
  const Training& t = s.training;
  if (t.muon && update != MatrixUpdate::orthogonal) {
    keys.report({"training.muon", "state \"optimizer: muon\", or leave it out"},
                "muon is about an optimizer, but optimizer is {}", t.optimizer);
  }
  if (!t.preconditioner) return;
  const bool turns = update == MatrixUpdate::eigenbases, roots = update == MatrixUpdate::roots;
  if (!turns && !roots) {
    keys.report(
        {"training.preconditioner", "state \"optimizer: soap\" or shampoo, or leave it out"},
        "preconditioner is about soap and shampoo, but optimizer is {}", t.optimizer);
  }
  if (turns && t.preconditioner->grafting) {
    keys.report({"training.preconditioner.grafting", "leave it out"},
                "grafting gives Shampoo's steps the norm of Adam's; those of {} are Adam's",
                t.optimizer);
  }
  if (roots && t.preconditioner->kl_statistics) {
    keys.report({"training.preconditioner.kl_statistics", "use soap"},
                "kl_statistics weigh gradients by eigenbases, which {} does not keep", t.optimizer);
  }
}

/// The type in which matrices are multiplied has to be one of the GPU's.
void check_products(const Scenario& s, MatrixUpdate update, const KeyReports& keys) {
  const bool orthogonal = update == MatrixUpdate::orthogonal;
  const Precision taken = orthogonal ? Precision::bf16 : s.training.preconditioner_keys().precision;
  const char* key = orthogonal || !s.training.preconditioner ? "training.optimizer"
                                                             : "training.preconditioner.precision";
  if (taken != Precision::fp32 && taken != Precision::tf32 && taken != Precision::bf16) {
    return keys.report({key, "use fp32, tf32 or bf16"},
                       "{} multiplies matrices of its own, which are not {}", s.training.optimizer,
                       name_of(taken));
  }
  const GpuProfile& gpu = s.cluster.gpu;
  if (std::ranges::any_of(gpu.gemm, [&](const GemmProfile& g) { return g.precision == taken; }))
    return;
  keys.report({key, orthogonal ? "use adam" : "use another precision"},
              "{} multiplies in {}, which GPU profile '{}' does not have", s.training.optimizer,
              name_of(taken), gpu.name);
}

}  // namespace

void check_matrix_updates(const Scenario& s, MatrixUpdate update, const KeyReports& keys) {
  check_groups(s, update, keys);
  const bool sound = keys.sound(
      {"training.muon", "training.preconditioner", "parallelism.data", "model", "cluster"});
  if (update == MatrixUpdate::none || !sound) return;
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
  check_products(s, update, keys);
  check_owners(s, keys);
}

}  // namespace stepsim
