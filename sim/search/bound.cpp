// Stages and the end of the step, and what strategies share.
#include "sim/search/bound.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/ops/frozen.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/plan/memory/memory_buffers.hpp"
#include "sim/search/stage_costs.hpp"
#include "sim/search/step_end_costs.hpp"

namespace stepsim {
namespace {

/// A strategy, with all that its bound is made of.
class StrategyBound {
 public:
  StrategyBound(const Scenario& scenario, const Strategy& strategy, const ModelCosts& model,
                const ScheduleFacts& facts, const std::vector<StageCost>& stages,
                const std::vector<StepEndCost>& ends)
      : s_(scenario),
        strategy_(strategy),
        model_(model),
        facts_(facts),
        stages_(stages),
        ends_(ends),
        sharding_(*strategy.sharding),
        passes_(static_cast<double>(scenario.micro_batches()) / strategy.schedule->needs.copies) {}

  Bound bound() const {
    double step = 0, memory = 0, least_update = ends_.front().update;
    for (const StepEndCost& end : ends_) least_update = std::min(least_update, end.update);
    const double outside = outside_passes();
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      step = std::max(step, stage_time(stage, least_update));
      memory = std::max(memory, outside + stage_memory(stage));
    }
    return {Seconds{step}, Bytes{memory}};
  }

  /// A closer bound, with what the order of passes comes to. `last`: seconds by stage until it is
  /// done with its passes.
  Bound with_order(const std::vector<double>& last) const {
    Bound closer = bound();
    double least_update = ends_.front().update;
    for (const StepEndCost& end : ends_) least_update = std::min(least_update, end.update);
    for (std::size_t stage = 0; stage < last.size(); ++stage)
      closer.step = std::max(closer.step,
                             Seconds{last[stage] + tail(stage) + ends_[stage].norm + least_update});
    return closer;
  }

  /// Whether stages begin a step when all have ended the one before.
  bool joins() const { return s_.training.gradient_clipping && stages_.size() > 1; }

 private:
  /// Gradients of the chunk that is done last begin to be reduced with its last backward.
  double tail(std::size_t stage) const {
    const StepEndCost& end = ends_[stage];
    return end.reduce + std::max(end.reduce_chunk - stages_[stage].first_chunk, 0.0);
  }

  double stage_time(std::size_t stage, double least_update) const {
    const StageCost& cost = stages_[stage];
    const StepEndCost& end = ends_[stage];
    const double links = link_time(cost);
    const bool meets = s_.training.gradient_clipping;
    double passes = passes_ * (cost.forward + cost.backward + cost.idle);
    if (!s_.parallelism.data.overlap) passes += passes_ * links;
    const double around = cost.fill + passes_ * (cost.forward + cost.input + cost.wait) +
                          cost.drain + tail(0) + ends_[0].norm + least_update;
    const double own = (meets ? cost.fill : 0) + passes + repeated_reductions(stage) + tail(stage) +
                       end.norm + (meets ? least_update : end.update);
    const double least = std::max({around, own, passes_ * cost.launches, passes_ * links});
    return meets || stages_.size() == 1 ? least : least - lag(cost) / s_.run.steps;
  }

  /// How much later than this stage another one may be when the first measured step begins, and no
  /// later at the end, where nothing joins stages at the end of a step.
  double lag(const StageCost& cost) const {
    double longest = 0;
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      const StepEndCost& end = ends_[stage];
      const double later = facts_.splits ? passes_ * stages_[stage].backward : 0;
      longest = std::max(longest, later + tail(stage) + end.norm + end.update);
    }
    return cost.drain + longest;
  }

  /// Seconds on the links of a data-parallel rank: gathers of sharded parameters, and scatters
  /// where each micro-batch has one.
  double link_time(const StageCost& cost) const {
    if (!sharding_.shards_parameters) return 0;
    return std::max(cost.gather, s_.parallelism.data.no_sync ? 0 : cost.scatter);
  }

  /// Seconds of reductions between passes: all but the last one.
  double repeated_reductions(std::size_t stage) const {
    const DataParallel& data = s_.parallelism.data;
    if (data.no_sync || data.overlap || sharding_.shards_parameters) return 0;
    return (facts_.reductions - 1) * ends_[stage].reduce;
  }

  double outside_passes() const {
    const GpuProfile& gpu = s_.cluster.gpu;
    return model_.gathered + gpu.workspace.bytes() + gpu.context.bytes() +
           communicators(s_) * gpu.communicator.bytes();
  }

  double stage_memory(std::size_t stage) const {
    const StageCost& cost = stages_[stage];
    const StateBytes state = gpu_state(s_, parameters_of(s_, strategy_, cost.dense, cost.experts));
    return state.total() + cost.frozen * frozen_share(s_) + facts_.in_flight[stage] * cost.saved +
           cost.above;
  }

  const Scenario& s_;
  const Strategy& strategy_;
  const ModelCosts& model_;
  const ScheduleFacts& facts_;
  const std::vector<StageCost>& stages_;
  const std::vector<StepEndCost>& ends_;
  const Sharding& sharding_;
  double passes_;  ///< how often each chunk of a stage runs
};

/// A cluster of one size.
struct Size {
  explicit Size(const Cluster& of) : cluster(of), scratch(cluster), shapes(scratch.network) {}
  Size(const Size&) = delete;
  Size& operator=(const Size&) = delete;
  Cluster cluster;
  Plan scratch;  ///< what is compiled goes here, and is thrown away
  GroupShapes shapes;
};

}  // namespace

struct Bounds::Known {
  explicit Known(const SearchBase& b) : base(b), scenario(b.scenario) {}

  Size& size_of(int gpus) {
    auto& size = sizes[gpus];
    if (!size) {
      Cluster cluster = base.scenario.cluster;
      cluster.nodes = gpus / cluster.gpus_per_node;
      size = std::make_unique<Size>(cluster);
    }
    return *size;
  }

  const ModelCosts& model_of(const Strategy& s, const SplitShapes& shapes, Size& size) {
    const auto* t = std::get_if<Transformer>(&scenario.model.shape);
    const bool experts = t != nullptr && t->experts;
    const bool gathers = s.sharding->shards_parameters;
    std::vector<GroupShape> groups;
    for (const StageShape& g : shapes.groups)
      groups.insert(groups.end(), g.groups.begin(), g.groups.begin() + kPassAxes);
    const auto key = std::tuple(
        groups,
        std::tuple(s.tensor, s.context, s.expert, s.expert_tensor, s.dispatcher, s.sequence),
        s.micro_batch, s.stages > 1, scenario.micro_batches() > 1,
        std::tuple(gathers, gathers ? s.shard_degree : 0, gathers ? s.reshard : std::nullopt),
        experts || gathers ? s.replicas() : 0,
        // What the loop over layers copies (ops/transformer/scanned_layer.cpp).
        scenario.training.scan_layers ? index_of(s.recompute, s.modules) : 0,
        begins_without_gradient(scenario.training), overlaps_exchanges(scenario));
    auto& costs = models[key];
    if (!costs) {
      size.scratch.names.clear();
      costs = std::make_unique<ModelCosts>(model_costs(scenario, base, shapes, size.scratch));
    }
    return *costs;
  }

  /// Keeps the costs of the last strategy: variants of a frame come one after the other.
  const std::vector<StageCost>& stages_of(const Strategy& s, const ModelCosts& model,
                                          const ScheduleFacts& facts, const SplitShapes& shapes) {
    Strategy key = s;
    key.sharding = {};
    key.overlap = {};
    key.bucket = {};
    key.reshard = {};
    if (stages_key != key || stages_model != &model) {
      stages = stage_costs(scenario, s, model, facts, shapes);
      stages_key = key;
      stages_model = &model;
    }
    return stages;
  }

  const std::vector<StepEndCost>& ends_of(const Strategy& s, const ModelCosts& model,
                                          const SplitShapes& shapes, Size& size) {
    const auto key =
        std::tuple(s.gpus, std::tuple(s.tensor, s.context, s.expert, s.expert_tensor), s.stages,
                   s.chunks, s.schedule, s.sharding, s.overlap, s.shard_degree);
    auto& known = ends[key];
    if (known.empty())
      known = step_end_costs(scenario, s, model.graph, stages, shapes, size.scratch);
    return known;
  }

  /// What `ask` makes of the strategy's bound and the times of its parts.
  template <class Ask>
  Bound with_parts(const Strategy& strategy, Ask ask) {
    set_strategy(scenario, strategy, base);
    Size& size = size_of(strategy.gpus);
    const SplitShapes& shapes = size.shapes.of(scenario, strategy);
    const ModelCosts& model = model_of(strategy, shapes, size);
    const ScheduleFacts& facts = schedules.of(*strategy.schedule, shape_of(scenario));
    const auto& costs = stages_of(strategy, model, facts, shapes);
    const auto& at_end = ends_of(strategy, model, shapes, size);
    return ask(StrategyBound(scenario, strategy, model, facts, costs, at_end),
               [&] { return part_times(scenario, strategy, model, facts, shapes); });
  }

  const SearchBase& base;
  Scenario scenario;  ///< has the strategy that was asked for last
  std::map<int, std::unique_ptr<Size>> sizes;
  FactsOfSchedules schedules;
  using ModelKey =
      std::tuple<std::vector<GroupShape>,
                 std::tuple<int, int, int, int, std::optional<Dispatcher>, bool>, std::int64_t,
                 bool, bool, std::tuple<bool, int, std::optional<Reshard>>, int, std::size_t, bool,
                 bool>;
  std::map<ModelKey, std::unique_ptr<ModelCosts>> models;
  std::vector<StageCost> stages;
  Strategy stages_key;
  const ModelCosts* stages_model = nullptr;
  using EndKey = std::tuple<int, std::tuple<int, int, int, int>, int, int, const Schedule*,
                            const Sharding*, bool, int>;
  std::map<EndKey, std::vector<StepEndCost>> ends;
};

Bounds::Bounds(const SearchBase& base) : known_(std::make_unique<Known>(base)) {}
Bounds::~Bounds() = default;

Bound Bounds::of(const Strategy& strategy) {
  return known_->with_parts(strategy,
                            [](const StrategyBound& bound, const auto&) { return bound.bound(); });
}

Bound Bounds::refined(const Strategy& strategy) {
  return known_->with_parts(strategy, [&](const StrategyBound& bound, const auto& parts) {
    const Scenario& scenario = known_->scenario;
    if (!bound.joins()) return bound.bound();
    return bound.with_order(stage_finish_times(*strategy.schedule, shape_of(scenario),
                                               scenario.parallelism.pipeline, parts()));
  });
}

}  // namespace stepsim
