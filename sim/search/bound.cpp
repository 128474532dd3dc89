// Sums over parts, stages and the end of the step.
#include "sim/search/bound.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/plan/memory.hpp"
#include "sim/plan/memory_buffers.hpp"
#include "sim/plan/optimizer.hpp"

namespace stepsim {
namespace {

/// A part of the model with the strategy's recompute.
struct PartCost {
  BlockCost cost;
  RowTime again;
  double saved = 0;
  double above = 0;  ///< of its backward pass, on top of what all its blocks saved
  RowTime backward() const { return again + cost.backward; }
  RowTime input_gradient() const { return again + cost.input_gradient; }
};

Again again_of(Recompute recompute) {
  if (recompute == Recompute::none) return Again::none;
  return recompute == Recompute::selective ? Again::selective : Again::full;
}

BlockCost between(const ModelCosts& model, std::size_t begin, std::size_t end) {
  const BlockCost &a = model.before[begin], &b = model.before[end];
  BlockCost cost;
  cost.forward = b.forward - a.forward;
  cost.backward = b.backward - a.backward;
  cost.input_gradient = b.input_gradient - a.input_gradient;
  cost.weight_gradient = b.weight_gradient - a.weight_gradient;
  for (std::size_t i = 0; i < kAgain; ++i) {
    cost.again[i] = b.again[i] - a.again[i];
    cost.saved[i] = b.saved[i] - a.saved[i];
  }
  cost.kept_for_weights = b.kept_for_weights - a.kept_for_weights;
  cost.dense = b.dense - a.dense;
  cost.experts = b.experts - a.experts;
  cost.gather = b.gather - a.gather;
  cost.scatter = b.scatter - a.scatter;
  return cost;
}

/// The moment at which the last block of the part that is a layer, or the head after it, runs
/// backward.
double above_saved(const ModelCosts& model, std::size_t begin, std::size_t end, Again again) {
  double above = 0, freed = 0;
  const std::size_t first_after = model.first_layer + model.layers;
  for (std::size_t i = end; i-- > begin;) {
    const std::size_t block = model.graph.chain[i];
    const bool is_layer = i >= model.first_layer && i < first_after;
    const std::size_t how = index_of(is_layer ? again : Again::none);
    const BlockCost& cost = model.blocks[block];
    above = std::max(above, cost.peak[how] - cost.saved[how] - freed);
    freed += cost.saved[how];
    if (is_layer) break;
  }
  return above;
}

std::vector<PartCost> parts_of(const ModelCosts& model, const Strategy& s) {
  const int count = s.parts();
  auto sizes = dealt_layers(static_cast<std::int64_t>(model.layers), count);
  if (s.stages == 1) sizes = {static_cast<std::int64_t>(model.layers)};
  const Again again = again_of(s.recompute);
  std::vector<PartCost> parts(static_cast<std::size_t>(count));
  std::size_t layer = model.first_layer;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t first = layer;
    layer += static_cast<std::size_t>(sizes[i]);
    const std::size_t begin = i == 0 ? 0 : first;
    const std::size_t end = i + 1 == parts.size() ? model.graph.chain.size() : layer;
    PartCost& part = parts[i];
    part.cost = between(model, begin, end);
    // Layers beyond the first ones keep everything.
    const std::size_t some =
        s.recomputed_layers > 0 ? first + static_cast<std::size_t>(s.recomputed_layers) : layer;
    const std::size_t how = index_of(again);
    const BlockCost repeated = between(model, first, some);
    part.again = repeated.again[how];
    part.saved = part.cost.saved[index_of(Again::none)] - repeated.saved[index_of(Again::none)] +
                 repeated.saved[how];
    part.above = above_saved(model, begin, end, s.recomputed_layers > 0 ? Again::none : again);
  }
  return parts;
}

/// Seconds after the last pass of a stage: until its gradients are reduced and it knows its norm;
/// until its parameters are there.
struct EndCost {
  double reduce = 0;        ///< where nothing overlaps it
  double reduce_chunk = 0;  ///< overlapped: of the parameters of the chunk that is done last
  double norm = 0, update = 0;
};

}  // namespace

struct Bounds::Known {
  explicit Known(const SearchBase& b) : base(b), scenario(b.scenario) {}

  struct Size {
    explicit Size(const Cluster& of) : cluster(of), scratch(cluster) {}
    Cluster cluster;
    Plan scratch;
    std::unique_ptr<GroupShapes> shapes;
  };

  Size& size_of(int gpus) {
    auto& size = sizes[gpus];
    if (!size) {
      Cluster cluster = base.scenario.cluster;
      cluster.nodes = gpus / cluster.gpus_per_node;
      size = std::make_unique<Size>(cluster);
      size->shapes = std::make_unique<GroupShapes>(size->scratch.network);
    }
    return *size;
  }

  const ModelCosts& model_of(const Strategy& s, const SplitShapes& shapes, Size& size) {
    const auto* t = std::get_if<Transformer>(&scenario.model.shape);
    const bool experts = t != nullptr && t->experts;
    const auto& g = shapes.groups;
    const auto key = std::tuple(
        g.tensor, g.context, g.expert, std::tuple(s.tensor, s.context, s.expert, s.sequence),
        s.micro_batch, s.stages > 1, scenario.micro_batches() > 1, s.sharding == Sharding::zero3,
        experts || s.sharding == Sharding::zero3 ? s.replicas() : 0);
    auto& costs = models[key];
    if (!costs) {
      size.scratch.names.clear();
      costs = std::make_unique<ModelCosts>(model_costs(scenario, shapes, size.scratch));
    }
    return *costs;
  }

  const SearchBase& base;
  Scenario scenario;  ///< has the strategy that was asked for last
  std::map<int, std::unique_ptr<Size>> sizes;
  FactsOfSchedules schedules;
  using ModelKey = std::tuple<GroupShape, GroupShape, GroupShape, std::tuple<int, int, int, bool>,
                              std::int64_t, bool, bool, bool, int>;
  std::map<ModelKey, std::unique_ptr<ModelCosts>> models;
};

namespace {

/// One strategy, with all that its bound is made of.
class StrategyBound {
 public:
  StrategyBound(const Scenario& scenario, const Strategy& strategy, const ModelCosts& model,
                const ScheduleFacts& facts, const SplitShapes& shapes, Plan& scratch)
      : s_(scenario),
        strategy_(strategy),
        model_(model),
        facts_(facts),
        shapes_(shapes),
        scratch_(scratch),
        sharding_(strategy_of(strategy.sharding)),
        parts_(parts_of(model, strategy)),
        m_(scenario.micro_batches()) {}

  Bound bound() {
    set_fill();
    double step = 0, memory = 0;
    const double least_update = least_end();
    for (std::size_t stage = 0; stage < facts_.parts.size(); ++stage) {
      step = std::max(step, stage_time(stage, least_update));
      memory = std::max(memory, stage_memory(stage));
    }
    return {Seconds{step}, Bytes{memory}};
  }

 private:
  bool overlapped() const { return s_.parallelism.pipeline.overlap_p2p; }

  double hop(std::size_t part) const {
    const int from = facts_.stage[part], to = facts_.stage[part + 1];
    if (from == to) return 0;
    const bool far = shapes_.hop_out[static_cast<std::size_t>(std::min(from, to))];
    return (far && model_.far_transfer > 0 ? std::max(model_.far_transfer, model_.transfer)
                                           : model_.transfer) +
           model_.collect;
  }

  /// Until the first micro-batch reaches a part, and from its input gradients to those of part 0.
  void set_fill() {
    fill_.assign(1, 0.0);
    drain_.assign(1, 0.0);
    for (std::size_t part = 0; part + 1 < parts_.size(); ++part) {
      fill_.push_back(fill_.back() + parts_[part].cost.forward.seconds + hop(part));
      drain_.push_back(drain_.back() + backward_chain(parts_[part]) + hop(part));
    }
  }

  /// What the stage before waits for.
  double backward_chain(const PartCost& part) const {
    const double whole = part.backward().seconds, input = part.input_gradient().seconds;
    return facts_.splits ? std::min(whole, input) : whole;
  }

  double own_backward(const PartCost& part) const {
    const double whole = part.backward().seconds;
    const double split = part.input_gradient().seconds + part.cost.weight_gradient.seconds;
    if (facts_.all_split) return split;
    return facts_.splits ? std::min(whole, split) : whole;
  }

  /// Transfers that the compute row waits for around a pass of the part and its gradients.
  double waits(std::size_t part) const {
    if (overlapped() || strategy_.schedule->needs.takes_turns) return 0;
    double sum = 0;
    if (part > 0) sum += 2 * hop(part - 1) - model_.collect;
    if (part + 1 < parts_.size()) sum += 2 * hop(part) - model_.collect;
    return sum;
  }

  StageParameters parameters(std::size_t stage, bool chunk_0_only = false) const {
    StageParameters p{.replicas = sharing_ranks(s_),
                      .expert_replicas = sharing_ranks(s_) / strategy_.expert};
    for (const int part : facts_.parts[stage]) {
      const auto& cost = parts_[static_cast<std::size_t>(part)].cost;
      p.dense += cost.dense;
      p.experts += cost.experts;
      if (chunk_0_only) break;
    }
    // A head beside the embedding has no weights of its own.
    if (model_.graph.tied_head && !chunk_0_only && holds(stage, 0) &&
        holds(stage, static_cast<int>(parts_.size()) - 1) && parts_.size() > 1)
      p.dense -= model_.graph.tied_elements;
    return p;
  }

  bool holds(std::size_t stage, int part) const {
    const auto& parts = facts_.parts[stage];
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  }

  double kernels(const std::vector<Kernel>& list) const {
    double sum = 0;
    for (const Kernel& kernel : list) sum += kernel.seconds;
    return sum;
  }

  double reduction(const StageParameters& p) const {
    double sum = 0;
    for (const ParameterGroup& group : parameter_groups(shapes_.groups)) {
      const double elements = p.of(group.expert);
      if (group.shape.ranks == 1 || elements == 0) continue;
      sum = std::max(sum,
                     collective_time(sharding_.reduce, elements * gradient_bytes(s_), group.shape));
    }
    return sum;
  }

  double collective_time(CollectiveOp op, double bytes, const GroupShape& group) const {
    return uncontended(collective({op, Bytes{bytes}}, group, s_.cluster, s_.collectives)).seconds();
  }

  EndCost end_of(std::size_t stage) const {
    EndCost end;
    const StageParameters p = parameters(stage);
    Workshop shop{s_, model_.graph, scratch_, Names(scratch_.names)};
    const DataParallel& data = s_.parallelism.data;
    const bool replicated = shapes_.groups.data.ranks > 1 && !sharding_.shards_parameters;
    // Copies of the model on other stages have a larger group, which is not laid out here.
    if (replicated && strategy_.schedule->needs.copies == 1) {
      if (data.overlap) {
        end.reduce_chunk = reduction(parameters(stage, true));
      } else {
        end.reduce = reduction(p) + averaging_kernel(shop, p.total()).seconds;
      }
    }
    const double elements = p.kept(sharding_.shards_optimizer);
    if (data.offload_optimizer) return end;
    end.norm = kernels(norm_kernels(shop, elements));
    end.update =
        kernels(update_kernels(shop, elements, {elements}, p.kept(sharding_.shards_gradients)));
    if (replicated && sharding_.shards_optimizer && strategy_.schedule->needs.copies == 1)
      end.update += gathering(p);
    return end;
  }

  double gathering(const StageParameters& p) const {
    double longest = 0;
    for (const ParameterGroup& group : parameter_groups(shapes_.groups)) {
      const double bytes = p.of(group.expert) * s_.training.element();
      if (group.shape.ranks > 1 && bytes > 0)
        longest = std::max(longest, collective_time(CollectiveOp::all_gather, bytes, group.shape));
    }
    return longest;
  }

  double least_end() {
    double least = 0;
    for (std::size_t stage = 0; stage < facts_.parts.size(); ++stage) {
      // Stages of the same parts as one before end alike.
      ends_.push_back(stage > 1 && stage + 1 < facts_.parts.size() && alike(stage, stage - 1)
                          ? ends_.back()
                          : end_of(stage));
      least = stage == 0 ? ends_[0].update : std::min(least, ends_.back().update);
    }
    return least;
  }

  bool alike(std::size_t stage, std::size_t other) const {
    const StageParameters a = parameters(stage), b = parameters(other);
    const StageParameters c = parameters(stage, true), d = parameters(other, true);
    return a.dense == b.dense && a.experts == b.experts && c.dense == d.dense &&
           c.experts == d.experts;
  }

  /// Where gradients of the chunk that is done last begin to be reduced with its last backward.
  double tail(std::size_t stage) const {
    const EndCost& end = ends_[stage];
    const PartCost& first = parts_[static_cast<std::size_t>(facts_.parts[stage].front())];
    const double hidden =
        facts_.splits ? own_backward(first) + first.cost.forward.seconds : own_backward(first);
    return end.reduce + std::max(end.reduce_chunk - hidden, 0.0);
  }

  double stage_time(std::size_t stage, double least_update) const {
    double forward = 0, backward = 0, input = 0, wait = 0, launches = 0, links = 0;
    double fill = 1e300, drain = 1e300;
    for (const int p : facts_.parts[stage]) {
      const auto index = static_cast<std::size_t>(p);
      const PartCost& part = parts_[index];
      forward += part.cost.forward.seconds;
      backward += own_backward(part);
      input += std::min(backward_chain(part), own_backward(part));
      wait += waits(index);
      launches += part.cost.forward.launches + part.backward().launches;
      links += gathers(part);
      // The stage's own waits hold the hop between it and the one before already.
      const double own_hop = index > 0 && waits(index) > 0 ? hop(index - 1) : 0;
      fill = std::min(fill, fill_[index] - own_hop);
      drain = std::min(drain, drain_[index] - std::max(own_hop - model_.collect, 0.0));
    }
    const double times = static_cast<double>(m_) / strategy_.schedule->needs.copies;
    const EndCost& end = ends_[stage];
    double all = times * (forward + backward + wait);
    if (!s_.parallelism.data.overlap) all += times * links;
    const bool meets = s_.training.gradient_clipping;
    const double around =
        fill + times * (forward + input + wait) + drain + tail(0) + ends_[0].norm + least_update;
    const double own = (meets ? fill : 0) + all + repeated_reductions(stage) + tail(stage) +
                       end.norm + (meets ? least_update : end.update);
    return std::max({around, own, times * launches, times * links});
  }

  /// Links of a data-parallel rank: gathers of zero3, and scatters where each micro-batch has one.
  double gathers(const PartCost& part) const {
    if (!sharding_.shards_parameters) return 0;
    const double scatters = s_.parallelism.data.no_sync ? 0 : part.cost.scatter;
    return std::max(part.cost.gather, scatters);
  }

  /// Where gradients are reduced between passes, all but the last time.
  double repeated_reductions(std::size_t stage) const {
    const DataParallel& data = s_.parallelism.data;
    if (data.no_sync || data.overlap || sharding_.shards_parameters) return 0;
    return (facts_.reductions - 1) * ends_[stage].reduce;
  }

  double stage_memory(std::size_t stage) const {
    const GpuProfile& gpu = s_.cluster.gpu;
    const StateBytes state = gpu_state(s_, parameters(stage));
    double saved = 1e300, above = 1e300;
    for (const int p : facts_.parts[stage]) {
      saved = std::min(saved, parts_[static_cast<std::size_t>(p)].saved);
      above = std::min(above, parts_[static_cast<std::size_t>(p)].above);
    }
    return state.total() + facts_.in_flight[stage] * saved + above + model_.gathered +
           gpu.workspace.bytes() + communicators(s_) * gpu.communicator.bytes() +
           gpu.context.bytes();
  }

  const Scenario& s_;
  const Strategy& strategy_;
  const ModelCosts& model_;
  const ScheduleFacts& facts_;
  const SplitShapes& shapes_;
  Plan& scratch_;
  const ShardingStrategy& sharding_;
  std::vector<PartCost> parts_;
  int m_;
  std::vector<double> fill_, drain_;
  std::vector<EndCost> ends_;
};

}  // namespace

Bounds::Bounds(const SearchBase& base) : known_(std::make_unique<Known>(base)) {}
Bounds::~Bounds() = default;

Bound Bounds::of(const Strategy& strategy) {
  Known& known = *known_;
  set_strategy(known.scenario, strategy, known.base);
  auto& size = known.size_of(strategy.gpus);
  const SplitShapes& shapes = size.shapes->of(known.scenario, strategy);
  const ModelCosts& model = known.model_of(strategy, shapes, size);
  const ScheduleFacts& facts = known.schedules.of(*strategy.schedule, shape_of(known.scenario));
  return StrategyBound(known.scenario, strategy, model, facts, shapes, size.scratch).bound();
}

}  // namespace stepsim
