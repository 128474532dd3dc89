// Counts bytes of checkpoints by the memory model.
#include "sim/plan/memory/checkpoint_bytes.hpp"

#include "sim/plan/memory/memory.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/scenario/expert_mesh.hpp"

namespace stepsim {
namespace {

/// Bytes of optimizer state and master weight of so many parameters; of matrices that are updated
/// as such it is what one owner has.
double saved_state(const Scenario& s, double elements, double matrices) {
  return (elements - matrices) * optimizer_bytes(s.training) +
         matrices * (master_bytes(s.training) + matrix_moment_bytes(s.training));
}

/// Bytes that a checkpoint holds of one parameter, in the mean.
double saved_bytes(const Scenario& s, const OpGraph& graph) {
  if (!updates_matrices(s.training))
    return s.training.parameter_element() + optimizer_bytes(s.training);
  double elements = 0, state = 0;
  for (int stage = 0; stage < s.parallelism.pipeline.stages; ++stage) {
    const StageParameters p = stage_parameters(s, graph, stage);
    elements += p.total();
    state += saved_state(s, p.total(), p.kept_matrices(false));
  }
  return s.training.parameter_element() + state / elements;
}

/// Bytes of one rank's embedding tables.
Bytes tables(const OpGraph& graph, const std::vector<std::size_t>& chain) {
  Bytes sum;
  for (const std::size_t index : chain) sum += graph.blocks[index].tables();
  return sum;
}

Bytes tables_of_all(const OpGraph& graph, int holders) {
  if (graph.first_chain.empty()) return tables(graph, graph.chain) * holders;
  const auto& others = graph.of_first ? graph.first_chain : graph.chain;
  const auto& first = graph.of_first ? graph.chain : graph.first_chain;
  return tables(graph, first) + tables(graph, others) * (holders - 1);
}

/// The parameters that one rank of a stage saves. A word embedding that the head also uses is saved
/// where the model begins, and not again on a last stage that holds a copy of it.
StageParameters saved_parameters(const Scenario& s, const OpGraph& graph, int stage) {
  StageParameters p = stage_parameters(s, graph, stage);
  const Placement placement = placement_of(s);
  const bool is_copy = placement.holds(stage, placement.parts() - 1) && !placement.holds(stage, 0);
  if (is_copy) p.dense -= graph.tied_elements;
  return p;
}

/// Bytes of a checkpoint of everything that any rank has, rank 0 included where it alone holds
/// more.
Bytes derived_bytes(const Scenario& s, const OpGraph& graph) {
  if (!graph.first_chain.empty() && !graph.of_first) return derived_bytes(s, graph_of_first(graph));
  double parameters = 0;
  for (int stage = 0; stage < s.parallelism.pipeline.stages; ++stage) {
    const StageParameters p = saved_parameters(s, graph, stage);
    const ExpertMesh mesh = expert_mesh(s);
    parameters += s.parallelism.tensor * p.dense + mesh.tensor * mesh.degree * p.experts;
  }
  parameters /= schedule_of(s).needs.copies;
  return Bytes{parameters * saved_bytes(s, graph)} +
         tables_of_all(graph, s.parallelism.tensor * s.replicas());
}

}  // namespace

Bytes checkpoint_bytes(const Scenario& s, const OpGraph& graph) {
  return s.checkpoint->size.value_or(derived_bytes(s, graph));
}

CheckpointPart checkpoint_part(const Scenario& s, const OpGraph& graph, const StageShape& shape) {
  const StageParameters p = saved_parameters(s, graph, shape.stage);
  // In a sharded checkpoint all ranks that hold the same parameters write equal parts of them.
  const bool sharded = s.checkpoint->sharded;
  const double dense = sharded ? p.dense / replicas(s) : shape.writes[0] ? p.dense : 0;
  const double experts = sharded ? p.experts / expert_replicas(s) : shape.writes[1] ? p.experts : 0;
  const double stated = checkpoint_bytes(s, graph) / derived_bytes(s, graph);
  const Bytes held = shape.stage == 0 ? tables(graph, graph.chain) : Bytes{};
  const bool offloaded = s.parallelism.data.offload_optimizer;
  const double from_gpu = offloaded ? s.training.parameter_element() : saved_bytes(s, graph);
  return {stated * (Bytes{(dense + experts) * saved_bytes(s, graph)} + held),
          stated * (Bytes{(dense + experts) * from_gpu} + held)};
}

Bytes gathered_for_checkpoint(const Scenario& s, const OpGraph& graph, int stage, bool expert) {
  const Sharding& strategy = s.parallelism.data.sharding;
  const StageParameters p = stage_parameters(s, graph, stage);
  if (updates_matrices(s.training))  // whole parameters, as shards of whole matrices go with them
    return Bytes{strategy.shards_optimizer ? saved_state(s, p.of(expert), p.matrices_of(expert).all)
                                           : 0};
  const double each = (strategy.shards_parameters ? s.training.parameter_element() : 0) +
                      (strategy.shards_optimizer ? optimizer_bytes(s.training) : 0);
  return Bytes{p.of(expert) * each};
}

}  // namespace stepsim
