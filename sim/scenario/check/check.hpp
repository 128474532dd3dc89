// What must hold between the keys of a scenario, after each key for itself has been read.
//
// Each rule is one sentence with the numbers on both sides, at the key that one would change. A
// rule is left out when one of the keys that it speaks about was already reported. The reader of a
// file writes the sentences, a search only asks whether a rule is broken.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/check/key_reports.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

void check_model(const Model& model, Reading& reading);
void check_cluster(const Cluster& cluster, Reading& reading);
void check_scenario(const Scenario& scenario, const KnownNames& known, Reading& reading);

/// What a search chooses: degrees, schedule and batches; what data-parallel ranks share out; what
/// is computed again.
enum class Choice { split, sharding, recompute };

/// Whether the choice breaks no rule about it. REQUIRES: the rules about all other keys hold.
bool fits(const Scenario& scenario, const KnownNames& known, Choice choice);

// --- what rules ask, and others with them

/// Layers, or blocks, that a pipeline deals out.
std::int64_t layers_of(const Model& model);
/// What the scenario's schedule asks for; nullptr when it is not known.
const ScheduleNeeds* needs_of(const Scenario& scenario, const KnownNames& known);
/// The schedules that run at least so many chunks per stage.
std::vector<std::string> schedules_with(const KnownNames& known, int chunks);
/// Different parts of the model per stage.
int parts_per_stage(const Scenario& scenario, const KnownNames& known);
/// How sentences call a model that is no transformer: "an MLP".
std::string title_without_tokens(const Model& model);
/// Reports each of `parts` that the model has beside `part`.
void check_apart(const KeyReports& keys, const std::string& part,
                 std::initializer_list<std::pair<const char*, bool>> parts, const char* reason);
/// Whether the number of data-parallel ranks is known and whole.
bool splits(const Scenario& scenario, const KeyReports& keys);

// --- one function for each subject, in the order in which sentences are written

/// Names that other rooms own: schedules, collectives, conventions of FLOPs. `known` has them; a
/// list that is empty there is not checked.
void check_names(const Scenario& scenario, const KnownNames& known, const KeyReports& keys);
/// An optimizer may need whole tensors, or have fused kernels only.
void check_optimizer(const Scenario& scenario, const KnownNames& known, const KeyReports& keys);
/// Whole matrices that an optimizer needs, and its keys. `update`: how the scenario's updates them.
void check_matrix_updates(const Scenario& scenario, MatrixUpdate update, const KeyReports& keys);
void check_transformer(const Transformer& model, const KeyReports& keys);
/// REQUIRES: the model is a hybrid.
void check_hybrid(const Transformer& model, const KeyReports& keys);
/// REQUIRES: the model has a tower.
void check_tower(const Transformer& model, const KeyReports& keys);
/// Images, what is not trained, and how the tower is split.
void check_images(const Scenario& scenario, const KeyReports& keys);
/// REQUIRES: the model is a diffusion transformer.
void check_diffusion(const Transformer& model, const KeyReports& keys);
/// REQUIRES: the model is a diffusion transformer.
void check_diffusion_training(const Scenario& scenario, const Transformer& model,
                              const KeyReports& keys);
void check_resnet(const ResNet& model, const KeyReports& keys);
void check_dlrm(const Dlrm& model, const KeyReports& keys);
void check_topology(const Cluster& cluster, const KnownNames& known, const KeyReports& keys);
/// REQUIRES: check_topology was called.
void check_link_names(const Scenario& scenario, const KnownNames& known, const KeyReports& keys);
/// How ranks and the batch are dealt out: degrees, their order, micro-batches.
void check_split(const Scenario& scenario, const KeyReports& keys);
void check_pipeline(const Scenario& scenario, const KnownNames& known, const KeyReports& keys);
/// Exchanges of tokens that are hidden in pairs of passes.
void check_pairs(const Scenario& scenario, const KnownNames& known, const KeyReports& keys);
void check_sharding(const Scenario& scenario, const KnownNames& known, const KeyReports& keys);
/// Keys about gathers and reductions that the sharding does not have.
void check_gathers(const Scenario& scenario, const KeyReports& keys);
/// How each kind of model is trained and split.
void check_transformer_training(const Scenario& scenario, const Transformer& model,
                                const KeyReports& keys);
/// REQUIRES: the model is a hybrid, about which nothing was reported.
void check_hybrid_training(const Scenario& scenario, const Transformer& model,
                           const KeyReports& keys);
void check_without_tokens(const Scenario& scenario, const KeyReports& keys);
void check_resnet_training(const Scenario& scenario, const ResNet& model, const KeyReports& keys);
void check_dlrm_training(const Scenario& scenario, const KeyReports& keys);
/// REQUIRES: the model has those experts; what splits them and the ranks divides them.
void check_dispatch(const Scenario& scenario, const KeyReports& keys);
/// How layers become kernels, and what becomes of gradients and losses.
void check_kernels(const Scenario& scenario, const KnownNames& known, const KeyReports& keys);
void check_gradients(const Scenario& scenario, const KeyReports& keys);
/// Whether layers have seven products: queries, keys, values, the projection behind attention,
/// gate, up and down.
bool has_seven_matmuls(const Scenario& scenario, const Transformer& model);
/// Whether some layer of the model has that module.
bool has_module(const Transformer& model, RecomputeModule module);
void check_recompute(const Scenario& scenario, const KnownNames& known, const KeyReports& keys);
void check_precision(const Scenario& scenario, const KeyReports& keys);
/// Documents in sequences. REQUIRES: the model is a transformer whose lengths fit it.
void check_packing(const Scenario& scenario, const Transformer& model, const KeyReports& keys);
/// Losses that do not have the logits of all tokens at once.
void check_loss(const Scenario& scenario, const KeyReports& keys);
void check_lora(const Scenario& scenario, const KeyReports& keys);
void check_faults(const Scenario& scenario, const KeyReports& keys);
/// A distribution's name and what it is told, in the map at that path.
void check_distribution(const std::string& at, const std::string& name, const Spread& spread,
                        const KeyReports& keys);
void check_input(const Scenario& scenario, const KeyReports& keys);
void check_host(const Scenario& scenario, const KeyReports& keys);
void check_checkpoint(const Scenario& scenario, const KeyReports& keys);

}  // namespace stepsim
