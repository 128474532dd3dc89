// The planner's kernels and collectives of a step's end.
#include "sim/search/end_costs.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/plan/memory.hpp"
#include "sim/plan/optimizer.hpp"
#include "sim/plan/sharding.hpp"

namespace stepsim {
namespace {

class Ends {
 public:
  Ends(const Scenario& scenario, const Strategy& strategy, const OpGraph& graph,
       const SplitShapes& shapes, Plan& scratch)
      : s_(scenario),
        strategy_(strategy),
        shapes_(shapes),
        sharding_(strategy_of(strategy.sharding)),
        shop_{scenario, graph, scratch, Names(scratch.names)} {
    // Copies of the model on other stages have a larger group, which is not laid out here.
    reduces_ = shapes.groups.data.ranks > 1 && !sharding_.shards_parameters &&
               strategy.schedule->needs.copies == 1;
  }

  EndCost of(const StageCost& stage) {
    EndCost end;
    const StageParameters p = parameters_of(s_, strategy_, stage.dense, stage.experts);
    const DataParallel& data = s_.parallelism.data;
    if (reduces_ && data.overlap) {
      end.reduce_chunk =
          longest(sharding_.reduce, gradient_bytes(s_),
                  parameters_of(s_, strategy_, stage.chunk_dense, stage.chunk_experts));
    } else if (reduces_) {
      end.reduce = longest(sharding_.reduce, gradient_bytes(s_), p) +
                   averaging_kernel(shop_, p.total()).seconds;
    }
    if (data.offload_optimizer) return end;
    const double elements = p.kept(sharding_.shards_optimizer);
    end.norm = seconds_of(norm_kernels(shop_, elements));
    end.update =
        seconds_of(update_kernels(shop_, elements, {elements}, p.kept(sharding_.shards_gradients)));
    if (reduces_ && sharding_.shards_optimizer)
      end.update += longest(CollectiveOp::all_gather, s_.training.element(), p);
    return end;
  }

 private:
  static double seconds_of(const std::vector<Kernel>& kernels) {
    double sum = 0;
    for (const Kernel& kernel : kernels) sum += kernel.seconds;
    return sum;
  }

  /// Of the dense parameters and the experts', whose collectives run beside each other.
  double longest(CollectiveOp op, double bytes_each, const StageParameters& p) const {
    double most = 0;
    for (const ParameterGroup& group : parameter_groups(shapes_.groups)) {
      const Bytes bytes{p.of(group.expert) * bytes_each};
      if (group.shape.ranks == 1 || bytes == Bytes{0}) continue;
      const Phases phases = collective({op, bytes}, group.shape, s_.cluster, s_.collectives);
      most = std::max(most, uncontended(phases).seconds());
    }
    return most;
  }

  const Scenario& s_;
  const Strategy& strategy_;
  const SplitShapes& shapes_;
  const ShardingStrategy& sharding_;
  Workshop shop_;
  bool reduces_ = false;
};

}  // namespace

StageParameters parameters_of(const Scenario& scenario, const Strategy& strategy, double dense,
                              double experts) {
  const int holders = strategy.replicas() * strategy.schedule->needs.copies;
  const int sharing = holders / scenario.shard_groups();
  return {dense, experts, sharing, sharing / strategy.expert};
}

std::vector<EndCost> end_costs(const Scenario& scenario, const Strategy& strategy,
                               const OpGraph& graph, const std::vector<StageCost>& stages,
                               const SplitShapes& shapes, Plan& scratch) {
  scratch.names.clear();
  Ends ends(scenario, strategy, graph, shapes, scratch);
  std::map<std::array<double, 4>, EndCost> known;
  std::vector<EndCost> all;
  for (const StageCost& stage : stages) {
    const std::array key{stage.dense, stage.experts, stage.chunk_dense, stage.chunk_experts};
    const auto found = known.find(key);
    all.push_back(found != known.end() ? found->second
                                       : known.emplace(key, ends.of(stage)).first->second);
  }
  return all;
}

}  // namespace stepsim
