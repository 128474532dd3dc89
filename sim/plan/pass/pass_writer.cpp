// Kernels, collectives and gradients of a pass, in the order in which they are issued.
#include "sim/plan/pass/pass_writer.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>

#include "sim/ops/offloaded.hpp"
#include "sim/plan/group/members.hpp"
#include "sim/plan/pass/buckets.hpp"
#include "sim/plan/pass/operations.hpp"
#include "sim/plan/program/launch_time.hpp"
#include "sim/plan/program/optimizer.hpp"

namespace stepsim {
namespace {

/// Whether a split backward runs the item in that half.
bool belongs(const Item& item, PassKind pass) {
  if (pass == PassKind::forward || pass == PassKind::backward) return true;
  const bool for_weights = std::visit(
      [](const auto& part) {
        if constexpr (std::is_same_v<std::decay_t<decltype(part)>, GradientReady>)
          return true;
        else
          return part.for_weights;
      },
      item);
  return for_weights == (pass == PassKind::weight_gradient);
}

}  // namespace

void PassWriter::run(const Items& items, Cause cause, PassKind pass) {
  for (const Item& item : items) {
    if (!belongs(item, pass)) continue;
    std::visit([&](const auto& part) { add(part, cause); }, item);
  }
}

int PassWriter::start(Channel channel, CollectiveOp op, Bytes bytes, const GroupShape& group,
                      bool beside_block) {
  close_chain();
  return start(channel, pass_collective(draft_, op, bytes, group), beside_block);
}

int PassWriter::start(Channel channel, std::uint32_t operation, bool beside_block) {
  segment_.emplace_back(StartPiece{channel, operation, slots_, beside_block});
  return slots_++;
}

PassWriter::ReductionSlots PassWriter::start_reduction(const ParameterGroup& group,
                                                       Bytes gradients) {
  int scattered = -1;
  if (group.shape.ranks > 1) {
    scattered = start(group.reduce, gradient_op_, gradients, group.shape);
    std::get<StartPiece>(segment_.back()).reduces = true;
  }
  if (group.same_shard.ranks == 1) return {scattered, scattered};
  const int reduced = start(group.across, CollectiveOp::all_reduce, gradients / group.shape.ranks,
                            group.same_shard);
  std::get<StartPiece>(segment_.back()).follows = scattered;
  std::get<StartPiece>(segment_.back()).reduces = scattered < 0;
  return {scattered < 0 ? reduced : scattered, reduced};
}

void PassWriter::enter(const Op& op) {
  const std::vector<GraphModule>& graphs = draft_.scenario.host.graphs;
  const bool is_graphed = op.module && std::ranges::find(graphs, *op.module) != graphs.end();
  const auto graph = is_graphed ? op.module : std::nullopt;
  if (graph != graph_) is_launched_ = false;
  graph_ = graph;
}

void PassWriter::add(const Launch& launch, Cause cause) {
  const auto [known, is_new] = draft_.kernels.try_emplace(&launch);
  if (is_new) known->second = timed(draft_, launch.name, launch.work, cause);
  kernels_.push_back(known->second);
  kernels_.back().cause = cause;
  Kernel& kernel = kernels_.back();
  const double each = launch_time(draft_.scenario).seconds();
  if (graph_) {
    // The first kernel is the graph's launch.
    kernel.host = (is_launched_ ? 0 : default_launch(HostMode::graph).seconds()) - each;
    is_launched_ = true;
    host_.take();
    return;
  }
  kernel.host += host_.take();
  if (launch.continues) kernel.host -= each;
  if (each > 0) kernel.host += launch.more_launches.seconds();
  if (draft_.scenario.host.mode != HostMode::compiled) kernel.host += launch.more_operators * each;
}

void PassWriter::add(const StartCollective& collective, Cause) {
  const Channel channel = channel_along(collective.axis);
  const GroupShape& group = shape_.of(channel);
  if (collective.copied) {
    close_chain();
    open(collective.axis, start(channel, copied_shift(draft_, collective.bytes, group)));
    return;
  }
  if (collective.axis != Axis::expert || collective.op != CollectiveOp::all_to_all) {
    open(collective.axis, start(channel, collective.op, collective.bytes, group));
    return;
  }
  close_chain();
  open(collective.axis, start(channel, exchange(draft_, collective.bytes, group)));
  if (collective.yields) turn();
}

void PassWriter::add(const GradientReady& gradient, Cause) {
  host_.complete_gradient();
  if (reduction_ == Reduction::none) return;
  Bucket& bucket = open_[gradient.expert ? 1 : 0];
  const Bytes bytes{gradient.elements * gradient_bytes(draft_.scenario)};
  // A copy divides on the way where each gradient is averaged by itself (pytorch/pytorch
  // torch/csrc/distributed/c10d/reducer.cpp, mark_variable_ready_dense).
  if (copies_gradients(draft_.scenario)) {
    move("gradient to bucket", bytes * 2);
  } else if (averages(Averaging::gradient) && !bucket.group.is_alone()) {
    move("average gradients", bytes * 2);
  }
  bucket.gradients.push_back(bytes);
  const std::size_t number = bucket.completed++;
  if (number < bucket.ends.size() && bucket.ends[number]) flush(bucket);
}

void PassWriter::reduce_amax(std::size_t layers) {
  const auto channel = channel_among(draft_.scenario.training.amax_reduction());
  if (!channel || shape_.of(*channel).ranks == 1) return;
  // So few bytes that only their latency counts: three numbers of each of four linear layers.
  const Bytes bytes{4.0 * 3 * 4 * static_cast<double>(layers)};
  wait(start(*channel, CollectiveOp::all_reduce, bytes, shape_.of(*channel)));
}

void PassWriter::flush(Bucket& bucket) {
  const bool copied = copies_gradients(draft_.scenario);
  if (bucket.gradients.empty() || (bucket.group.is_alone() && !copied)) return;
  const bool scatters = gradient_op_ == CollectiveOp::reduce_scatter;
  Reduced reduced{-1, std::exchange(bucket.gradients, {}),
                  share(scatters, bucket.group.shape.ranks)};
  const Bytes bytes = std::accumulate(reduced.gradients.begin(), reduced.gradients.end(), Bytes{0});
  if (bytes <= Bytes{0}) return;
  if (draft_.scenario.parallelism.data.check_for_nan_in_grad && !bucket.group.is_alone())
    check(bytes);
  const Bytes sent = bytes * (reduced_bytes(draft_.scenario) / gradient_bytes(draft_.scenario));
  if (casts_buckets(draft_.scenario)) move("cast bucket", bytes + sent);
  if (averages(Averaging::bucket)) move("average gradients", sent * 2);
  if (!bucket.group.is_alone())
    reduced.slot = start_reduction(bucket.group, bucket.times * sent).reduced;
  reduced_.push_back(std::move(reduced));
}

void PassWriter::check(Bytes gradients) {
  for (std::vector<Kernel>& kernels : gradient_checks(draft_, gradients)) {
    kernels.front().host += host_.take();
    for (Kernel& kernel : kernels) kernels_.push_back(kernel);
    close_chain();
    segment_.emplace_back(ReadPiece{});
  }
}

void PassWriter::unpack_buckets() {
  const Scenario& scenario = draft_.scenario;
  for (const Reduced& bucket : reduced_) {
    if (bucket.slot >= 0) wait(bucket.slot);
    if (casts_buckets(scenario)) {
      const Bytes kept =
          std::accumulate(bucket.gradients.begin(), bucket.gradients.end(), Bytes{0});
      const double each = gradient_bytes(scenario) + reduced_bytes(scenario);
      move("cast bucket back", bucket.share * kept * (each / gradient_bytes(scenario)),
           Cause::optimizer);
    }
    if (!copies_gradients(scenario)) continue;
    for (const Bytes gradient : bucket.gradients)
      move("gradient from bucket", gradient * 2, Cause::optimizer);
  }
}

void PassWriter::offload(const Block& block, const Recomputation& recompute) {
  const Bytes bytes = offloaded_bytes(block, recompute, draft_.scenario.training);
  if (bytes == Bytes{0}) return;
  close_chain();
  segment_.emplace_back(OffloadPiece{bytes});
}

void PassWriter::reload(const Block& block, const Recomputation& recompute) {
  const Bytes bytes = offloaded_bytes(block, recompute, draft_.scenario.training);
  if (bytes == Bytes{0}) return;
  close_chain();
  segment_.emplace_back(ReloadPiece{bytes});
}

void PassWriter::close_chain() {
  if (kernels_.empty()) return;
  segment_.emplace_back(
      ChainPiece{add_launched_chain(draft_, std::move(kernels_), shape_.slow.factor)});
  kernels_.clear();
}

void run_forward(PassWriter& writer, const Block& block, Cause cause,
                 const Recomputation& recompute, const AroundOps& around) {
  const bool kept = recompute.kind != Recompute::full;
  const bool in_parts = recompute.kind == Recompute::selective;
  if (block.recomputable) writer.begin_layer();
  for (const Op* op : block.order()) {
    const auto index = static_cast<std::size_t>(op - block.dag.ops.data());
    for (const RecomputeRegion& region : block.regions) {
      if (in_parts && region.first == index && recompute.repeats(region.module))
        writer.host().spend(host_cost::checkpoint.forward);
    }
    writer.host().spend(*op, kept ? HostPass::forward : HostPass::no_graph);
    around.before(*op);
    writer.enter(*op);
    writer.run(op->forward, cause, PassKind::forward);
  }
  if (cause == Cause::forward) writer.offload(block, recompute);
  if (block.recomputable) writer.end_layer();
}

void run_backward(PassWriter& writer, const Block& block, const Recomputation& recompute,
                  PassKind pass, const AroundOps& around) {
  const bool repeats = pass != PassKind::weight_gradient;
  if (block.recomputable) writer.begin_layer();
  if (repeats) writer.reload(block, recompute);
  const auto again = block.recomputed(recompute);
  if (repeats && !again.empty()) writer.host().spend(host_cost::checkpoint.backward);
  for (const Op* op : again) {
    if (!repeats) continue;
    writer.host().spend(*op, HostPass::forward);
    around.before(*op);
    writer.enter(*op);
    writer.run(op->forward, Cause::recompute, PassKind::forward);
  }
  const auto order = block.order();
  const auto regions = block.repeated_regions(recompute);
  for (auto op = order.rbegin(); op != order.rend(); ++op) {
    const auto index = static_cast<std::size_t>(*op - block.dag.ops.data());
    around.before(**op);
    writer.enter(**op);
    for (const RecomputeRegion* region : regions) {
      if (!repeats || region->before != index) continue;
      writer.host().spend(host_cost::checkpoint.backward);
      writer.host().spend(region->calls, HostPass::forward);
      writer.run(region->forward, Cause::recompute, PassKind::forward);
    }
    if (repeats && (*op)->has_gradient) writer.host().spend(**op, HostPass::backward);
    writer.run((*op)->backward, Cause::backward, pass);
    around.after(**op);
  }
  if (block.recomputable) writer.end_layer();
}

}  // namespace stepsim
