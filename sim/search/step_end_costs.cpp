// The planner's kernels and collectives of a step's end.
#include "sim/search/step_end_costs.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "sim/plan/memory/memory.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/pass/buckets.hpp"
#include "sim/plan/pass/parameter_gathers.hpp"
#include "sim/plan/program/optimizer.hpp"
#include "sim/plan/sharding.hpp"
#include "sim/scenario/expert_mesh.hpp"

namespace stepsim {
namespace {

class Ends {
 public:
  Ends(const Scenario& scenario, const Strategy& strategy, const OpGraph& graph,
       const StageShape& shape, Plan& scratch)
      : s_(scenario),
        strategy_(strategy),
        shape_(shape),
        sharding_(*strategy.sharding),
        draft_{scenario, graph, scratch} {
    reduces_ = shape.of(Channel::data).ranks > 1 && !sharding_.shards_parameters;
  }

  StepEndCost of(const StageCost& stage) {
    StepEndCost end;
    const StageParameters p = parameters_of(s_, strategy_, stage.dense, stage.experts);
    const DataParallel& data = s_.parallelism.data;
    if (reduces_ && data.overlap) {
      end.reduce_chunk =
          longest(gradient_reduction(data), reduced_bytes(s_),
                  parameters_of(s_, strategy_, stage.chunk_dense, stage.chunk_experts));
    } else if (reduces_) {
      end.reduce = longest(gradient_reduction(data), reduced_bytes(s_), p);
      if (data.averaging != Averaging::collective)
        end.reduce += averaging_kernel(draft_, p.total()).seconds;
    }
    if (data.offload_optimizer) return end;
    const double elements = p.kept(sharding_.shards_optimizer);
    end.norm = seconds_of(norm_kernels(draft_, elements));
    // A bound leaves out the products of matrices: it counts what one sweep over elements takes.
    end.update = seconds_of(update_kernels(draft_, elements, {elements},
                                           {p.kept(sharding_.shards_gradients)},
                                           p.kept_matrices(sharding_.shards_optimizer)));
    // What is gathered beside forward passes may cost nothing.
    if (reduces_ && sharding_.shards_optimizer && !gathers_beside_forward(s_, shape_))
      end.update += longest(CollectiveOp::all_gather, gathered_element(), p);
    return end;
  }

 private:
  static double seconds_of(const std::vector<Kernel>& kernels) {
    double sum = 0;
    for (const Kernel& kernel : kernels) sum += kernel.seconds;
    return sum;
  }

  /// Bytes of a parameter that is gathered, at least: some may stay wide
  /// (StepEnd::bytes_to_gather).
  double gathered_element() const {
    const Training& training = s_.training;
    if (!training.fp8_parameters) return training.gathered_element();
    return std::min(training.gathered_element(), quantised_bytes(training.quantisation()));
  }

  /// Seconds of the longer one of two collectives that run beside each other: the dense parameters'
  /// and the experts'.
  double longest(CollectiveOp op, double bytes_each, const StageParameters& p) const {
    double most = 0;
    for (const ParameterGroup& group : parameter_groups(shape_)) {
      const Bytes bytes{p.of(group.expert) * bytes_each};
      if (group.shape.ranks == 1 || bytes == Bytes{0}) continue;
      const Phases phases = collective({op, bytes}, group.shape, s_.cluster, s_.collectives);
      most = std::max(most, uncontended(phases).seconds());
    }
    return most;
  }

  const Scenario& s_;
  const Strategy& strategy_;
  const StageShape& shape_;
  const Sharding& sharding_;
  PlanDraft draft_;
  bool reduces_ = false;
};

std::array<double, 4> key_of(const StageCost& stage) {
  return {stage.dense, stage.experts, stage.chunk_dense, stage.chunk_experts};
}

StepEndCost less_of(const StepEndCost& a, const StepEndCost& b) {
  return {std::min(a.reduce, b.reduce), std::min(a.reduce_chunk, b.reduce_chunk),
          std::min(a.norm, b.norm), std::min(a.update, b.update)};
}

}  // namespace

StageParameters parameters_of(const Scenario& scenario, const Strategy& strategy, double dense,
                              double experts) {
  const int copies = strategy.schedule->needs.copies;
  const int groups = scenario.shard_groups();
  StageParameters p{dense, experts, strategy.replicas() * copies / groups,
                    expert_mesh(scenario).replicas * copies / groups};
  if (!updates_matrices(scenario.training)) return p;
  // A bound takes all elements for matrices, which have less state, dealt out evenly.
  const bool shared =
      strategy.sharding->shards_optimizer || update_owners(scenario.training) != UpdateOwners::all;
  p.matrices = {dense, dense * share(shared, p.replicas)};
  p.expert_matrices = {experts, experts * share(shared, p.expert_replicas)};
  return p;
}

std::vector<StepEndCost> step_end_costs(const Scenario& scenario, const Strategy& strategy,
                                        const OpGraph& graph, const std::vector<StageCost>& stages,
                                        const SplitShapes& shapes, Plan& scratch) {
  scratch.names.clear();
  std::map<std::array<double, 4>, StepEndCost> known;
  for (const StageShape& shape : shapes.groups) {
    Ends ends(scenario, strategy, graph, shape, scratch);
    for (const StageCost& stage : stages) {
      const auto [place, is_new] = known.try_emplace(key_of(stage));
      if (!is_new && shapes.groups.size() == 1) continue;
      const StepEndCost cost = ends.of(stage);
      place->second = is_new ? cost : less_of(place->second, cost);
    }
  }
  std::vector<StepEndCost> all;
  for (const StageCost& stage : stages) all.push_back(known.at(key_of(stage)));
  return all;
}

}  // namespace stepsim
