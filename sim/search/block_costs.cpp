// Compiling each block by itself.
#include "sim/search/block_costs.hpp"

#include <algorithm>

#include "sim/ops/offloaded.hpp"
#include "sim/ops/working_set.hpp"
#include "sim/plan/collective.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/plan/pass/buckets.hpp"
#include "sim/plan/pass/gathered_parameters.hpp"
#include "sim/plan/pass/pass_writer.hpp"
#include "sim/plan/program/tensor_ranks.hpp"

namespace stepsim {
namespace {

/// The clock of a compute row and of its communication rows.
class RowClock {
 public:
  /// `hidden`: the other pass of a pair may hide exchanges of tokens.
  explicit RowClock(const Plan& plan, bool hidden = false) : plan_(plan), hidden_(hidden) {
    free_.fill(0);
  }

  RowTime run(const Segment& segment) {
    for (const Piece& piece : segment) std::visit([&](const auto& part) { pass(part); }, piece);
    return now_;
  }

  /// Seconds since the last kernel.
  double waited() const { return now_.seconds - computed_; }

 private:
  void pass(const ChainPiece& piece) {
    const Chain& chain = plan_.chains[piece.chain];
    now_.seconds += chain.compute;
    // A bound from below: without what the host does besides.
    now_.launches +=
        std::min(chain.launch, chain.launch_each * static_cast<double>(chain.kernels.size()));
    computed_ = now_.seconds;
  }
  void pass(const StartPiece& piece) {
    double& free = free_[static_cast<std::size_t>(piece.channel)];
    free = std::max(free, now_.seconds);
    if (!hidden_ || piece.channel != channel_along(Axis::expert))
      free += uncontended(plan_.operations[piece.operation].phases).seconds();
    ends_.resize(std::max(ends_.size(), static_cast<std::size_t>(piece.slot) + 1), 0.0);
    ends_[static_cast<std::size_t>(piece.slot)] = free;
  }
  void pass(const WaitPiece& piece) {
    // the slot began in another block
    if (static_cast<std::size_t>(piece.slot) >= ends_.size()) return;
    now_.seconds = std::max(now_.seconds, ends_[static_cast<std::size_t>(piece.slot)]);
  }
  void pass(const BlockPiece&) {}
  void pass(const HoldPiece&) {}
  void pass(const ReadPiece&) {}
  void pass(const OffloadPiece&) {}
  void pass(const ReloadPiece&) {}
  void pass(const TurnPiece&) {}

  const Plan& plan_;
  bool hidden_;
  RowTime now_;
  double computed_ = 0;  ///< end of the last kernel
  std::array<double, kChannels> free_{};
  std::vector<double> ends_;
};

class BlockCoster {
 public:
  BlockCoster(const Scenario& scenario, const SearchBase& base, const OpGraph& graph,
              const StageShape& shape, Plan& scratch)
      : scenario_(scenario),
        base_(base),
        shape_(shape),
        alone_(shape),
        draft_{scenario, graph, scratch} {
    scratch.operations.clear();
    for (const Recompute kind : {Recompute::none, Recompute::selective, Recompute::full})
      ways_.emplace_back(kind, ModuleSet::stated);
    for (std::size_t set = 1; set < kModuleSets; ++set) {
      if (!base.modules.at(set).empty())
        ways_.emplace_back(Recompute::selective, static_cast<ModuleSet>(set));
    }
    // Passes as without sharding; what is gathered for them is counted apart.
    alone_.of(Channel::data) = alone_.of(Channel::expert_data) = {};
  }

  BlockCost of(const Block& block) {
    BlockCost cost;
    cost.forward = timed_pass([&](PassWriter& w) { run_forward(w, block); });
    cost.waits.forward = waited_;
    const auto backward = [&](PassKind pass) {
      return timed_pass([&](PassWriter& w) { run_backward(w, block, Recompute::none, pass); });
    };
    cost.backward = backward(PassKind::backward);
    cost.waits.backward = waited_;
    cost.input_gradient = backward(PassKind::input_gradient);
    cost.waits.input_gradient = waited_;
    cost.weight_gradient = backward(PassKind::weight_gradient);
    for (const auto& [kind, modules] : ways_) {
      const Recomputation how = recomputation_of({.recompute = kind, .modules = modules}, base_);
      const std::size_t i = index_of(kind, modules);
      cost.saved[i] =
          (saved_by(block, how).total() - offloaded_bytes(block, how, scenario_.training)).bytes();
      cost.peak[i] = backward_peak(block, how).held.total().bytes();
      cost.again[i] = repeated(block, how);
    }
    if (block.recomputable && !block.is_layer()) keep_least(cost);
    cost.kept_for_weights = block.kept_for_weights().bytes();
    cost.experts = block.expert_parameters();
    cost.dense = block.parameters() - cost.experts;
    cost.frozen = frozen_bytes(scenario_, block).bytes();
    if (scenario_.parallelism.data.sharding.shards_parameters) add_gathers(cost, block);
    return cost;
  }

  double seconds_of(CollectiveOp op, Bytes bytes, const GroupShape& group) {
    if (group.ranks == 1 || bytes == Bytes{0}) return 0;
    return uncontended(collective({op, bytes}, group, scenario_.cluster, scenario_.collectives))
        .seconds();
  }

 private:
  /// Bounds take blocks that no stage is dealt as if nothing of them was recomputed: the least bytes
  /// of all ways.
  void keep_least(BlockCost& cost) const {
    double saved = cost.saved.front(), above = cost.peak.front() - cost.saved.front();
    for (const auto& [kind, modules] : ways_) {
      const std::size_t i = index_of(kind, modules);
      saved = std::min(saved, cost.saved[i]);
      above = std::min(above, cost.peak[i] - cost.saved[i]);
    }
    cost.saved.fill(saved);
    cost.peak.fill(saved + above);
  }

  RowTime repeated(const Block& block, const Recomputation& how) {
    return timed_pass([&](PassWriter& w) {
      for (const Op* op : block.recomputed(how))
        w.run(op->forward, Cause::recompute, PassKind::forward);
      for (const RecomputeRegion* region : block.repeated_regions(how))
        w.run(region->forward, Cause::recompute, PassKind::forward);
    });
  }

  void add_gathers(BlockCost& cost, const Block& block) {
    for (const ParameterGroup& group : parameter_groups(shape_)) {
      const double all = group.expert ? cost.experts : cost.dense;
      cost.gather += seconds_of(CollectiveOp::all_gather,
                                gathered_bytes(scenario_, block, group.expert), group.shape);
      cost.scatter += seconds_of(CollectiveOp::reduce_scatter,
                                 Bytes{all * gradient_bytes(scenario_)}, group.shape);
    }
  }

  template <class Write>
  RowTime timed_pass(Write write) {
    draft_.plan.chains.clear();  // operations stay: the draft knows them by their numbers
    PassWriter writer(draft_, alone_);
    write(writer);
    RowClock clock(draft_.plan, draft_.pairs);
    const RowTime time = clock.run(writer.finish());
    waited_ = clock.waited();
    return time;
  }

  const Scenario& scenario_;
  const SearchBase& base_;
  std::vector<std::pair<Recompute, ModuleSet>> ways_;  ///< that are searched
  const StageShape& shape_;
  StageShape alone_;
  PlanDraft draft_;
  double waited_ = 0;  ///< at the end of the last pass that was timed
};

void add_transfers(ModelCosts& costs, const Scenario& s) {
  const Parallelism& p = s.parallelism;
  if (p.pipeline.stages == 1) return;
  const bool shared = p.sequence || p.pipeline.scatter_gather;
  const Bytes message = costs.graph.boundary / (shared ? p.tensor : 1);
  costs.transfer = (s.cluster.intra_node.latency + message / node_rate(s.cluster)).seconds();
  if (s.cluster.inter_node)
    costs.far_transfer = (s.cluster.inter_node->latency + message / nic_rate(s.cluster)).seconds();
}

/// Seconds to put a message together that comes in parts.
double collecting(const Scenario& s, BlockCoster& coster, const OpGraph& graph,
                  const StageShape& shape) {
  const Parallelism& p = s.parallelism;
  const bool in_parts = p.tensor > 1 && !p.sequence && p.pipeline.scatter_gather;
  if (p.pipeline.stages == 1 || !in_parts) return 0;
  return coster.seconds_of(CollectiveOp::all_gather, graph.boundary, tensor_ranks(shape));
}

void keep_less(RowTime& time, const RowTime& other) {
  time.seconds = std::min(time.seconds, other.seconds);
}

/// Keeps the less of each time and the most of each wait; bytes are the same on all ranks.
void keep_less(BlockCost& cost, const BlockCost& other) {
  keep_less(cost.forward, other.forward);
  keep_less(cost.backward, other.backward);
  keep_less(cost.input_gradient, other.input_gradient);
  keep_less(cost.weight_gradient, other.weight_gradient);
  for (std::size_t i = 0; i < kRecomputes; ++i) keep_less(cost.again[i], other.again[i]);
  cost.waits.forward = std::max(cost.waits.forward, other.waits.forward);
  cost.waits.backward = std::max(cost.waits.backward, other.waits.backward);
  cost.waits.input_gradient = std::max(cost.waits.input_gradient, other.waits.input_gradient);
  cost.gather = std::min(cost.gather, other.gather);
  cost.scatter = std::min(cost.scatter, other.scatter);
}

}  // namespace

BlockCost& BlockCost::operator+=(const BlockCost& other) {
  forward += other.forward;
  backward += other.backward;
  input_gradient += other.input_gradient;
  weight_gradient += other.weight_gradient;
  for (std::size_t i = 0; i < kRecomputes; ++i) {
    again[i] += other.again[i];
    saved[i] += other.saved[i];
    peak[i] = std::max(peak[i], other.peak[i]);
  }
  kept_for_weights += other.kept_for_weights;
  dense += other.dense;
  frozen += other.frozen;
  experts += other.experts;
  gather += other.gather;
  scatter += other.scatter;
  return *this;
}

RowTime row_time(const Plan& plan, const Segment& segment) { return RowClock(plan).run(segment); }

ModelCosts model_costs(const Scenario& scenario, const SearchBase& base, const SplitShapes& shapes,
                       Plan& scratch) {
  ModelCosts costs{.graph = build(scenario), .blocks = {}, .before = {}};
  for (const StageShape& shape : shapes.groups) {
    BlockCoster coster(scenario, base, costs.graph, shape, scratch);
    const bool first = costs.blocks.empty();
    for (std::size_t i = 0; i < costs.graph.blocks.size(); ++i) {
      const BlockCost cost = coster.of(costs.graph.blocks[i]);
      if (first) {
        costs.blocks.push_back(cost);
      } else {
        keep_less(costs.blocks[i], cost);
      }
    }
    const double collect = collecting(scenario, coster, costs.graph, shape);
    costs.collect = first ? collect : std::min(costs.collect, collect);
  }
  costs.before.emplace_back();
  for (std::size_t i = 0; i < costs.graph.chain.size(); ++i) {
    const std::size_t block = costs.graph.chain[i];
    if (costs.graph.blocks[block].is_layer()) costs.layers.push_back(i);
    costs.before.push_back(costs.before.back());
    costs.before.back() += costs.blocks[block];
  }
  if (scenario.parallelism.data.sharding.shards_parameters)
    costs.gathered = gathered_bytes(scenario, costs.graph, costs.graph.chain).bytes();
  add_transfers(costs, scenario);
  return costs;
}

}  // namespace stepsim
