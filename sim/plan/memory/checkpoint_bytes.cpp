// Counts bytes of checkpoints by the memory model.
#include "sim/plan/memory/checkpoint_bytes.hpp"

#include "sim/plan/memory/memory.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/scenario/expert_mesh.hpp"

namespace stepsim {
namespace {

/// Parameters that are saved: matrices that are updated as such, and all others.
struct SavedParameters {
  double others = 0, matrices = 0;
  SavedParameters& operator+=(const SavedParameters& more) {
    others += more.others;
    matrices += more.matrices;
    return *this;
  }
  SavedParameters operator*(double times) const { return {others * times, matrices * times}; }
  SavedParameters operator/(double parts) const { return {others / parts, matrices / parts}; }
};

/// What one rank of a stage saves of its experts, or of all else.
SavedParameters part_of(const StageParameters& p, bool expert) {
  const double matrices = p.matrices_of(expert).all;
  return {p.of(expert) - matrices, matrices};
}

/// Bytes of optimizer state and master weight of a matrix's element, as its owner has them.
double matrix_state(const Training& training) {
  return updates_matrices(training) ? master_bytes(training) + matrix_moment_bytes(training) : 0;
}

/// Bytes of these parameters with the optimizer's state, and bytes of an element that are saved
/// beside that.
Bytes saved_bytes(const Training& training, const SavedParameters& p, double beside) {
  return Bytes{p.others * (beside + optimizer_bytes(training)) +
               p.matrices * (beside + matrix_state(training))};
}
Bytes saved_bytes(const Training& training, const SavedParameters& p) {
  return saved_bytes(training, p, training.parameter_element());
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
  SavedParameters parameters;
  const ExpertMesh mesh = expert_mesh(s);
  for (int stage = 0; stage < s.parallelism.pipeline.stages; ++stage) {
    const StageParameters p = saved_parameters(s, graph, stage);
    parameters += part_of(p, false) * s.parallelism.tensor;
    parameters += part_of(p, true) * (mesh.tensor * mesh.degree);
  }
  return saved_bytes(s.training, parameters / schedule_of(s).needs.copies) +
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
  const auto written = [&](bool expert, int holders) {
    const SavedParameters held = part_of(p, expert);
    return sharded ? held / holders : held * (shape.writes[expert ? 1 : 0] ? 1 : 0);
  };
  SavedParameters part = written(false, replicas(s));
  part += written(true, expert_replicas(s));
  const double stated = checkpoint_bytes(s, graph) / derived_bytes(s, graph);
  const Bytes held = shape.stage == 0 ? tables(graph, graph.chain) : Bytes{};
  const bool offloaded = s.parallelism.data.offload_optimizer;
  const Bytes all = saved_bytes(s.training, part);
  const Bytes weights{(part.others + part.matrices) * s.training.parameter_element()};
  return {stated * (all + held), stated * ((offloaded ? weights : all) + held)};
}

Bytes gathered_for_checkpoint(const Scenario& s, const OpGraph& graph, int stage, bool expert) {
  const Sharding& strategy = s.parallelism.data.sharding;
  const StageParameters p = stage_parameters(s, graph, stage);
  if (updates_matrices(s.training))  // whole parameters, as shards of whole matrices go with them
    return strategy.shards_optimizer ? saved_bytes(s.training, part_of(p, expert), 0) : Bytes{0};
  const double each = (strategy.shards_parameters ? s.training.parameter_element() : 0) +
                      (strategy.shards_optimizer ? optimizer_bytes(s.training) : 0);
  return Bytes{p.of(expert) * each};
}

}  // namespace stepsim
