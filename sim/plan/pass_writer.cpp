// Kernels, collectives and gradients of a pass, in the order in which they are issued.
#include "sim/plan/pass_writer.hpp"

#include <type_traits>
#include <utility>
#include <variant>

#include "sim/plan/optimizer.hpp"

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
  const std::uint32_t operation = add_collective(shop_, op, bytes, group);
  segment_.emplace_back(StartPiece{channel, operation, slots_, beside_block});
  return slots_++;
}

PassWriter::ReductionSlots PassWriter::start_reduction(const ParameterGroup& group,
                                                       Bytes gradients) {
  int scattered = -1;
  if (group.shape.ranks > 1)
    scattered = start(group.reduce, strategy_.reduce, gradients, group.shape);
  if (group.same_shard.ranks == 1) return {scattered, scattered};
  const int reduced = start(group.across, CollectiveOp::all_reduce, gradients / group.shape.ranks,
                            group.same_shard);
  std::get<StartPiece>(segment_.back()).follows = scattered;
  return {scattered < 0 ? reduced : scattered, reduced};
}

void PassWriter::add(const Launch& launch, Cause cause) {
  kernels_.push_back(timed(shop_, launch.name, launch.work, cause));
}

void PassWriter::add(const StartCollective& collective, Cause) {
  switch (collective.group) {
    case PassGroup::tensor:
      open_slot_ = start(Channel::tensor, collective.op, collective.bytes, shape_.tensor);
      return;
    case PassGroup::context:
      open_slot_ = start(Channel::context, collective.op, collective.bytes, shape_.context);
      return;
    case PassGroup::expert:
      open_slot_ = start(Channel::expert, collective.op, collective.bytes, shape_.expert);
      return;
    case PassGroup::tables:
      open_slot_ = start(Channel::tables, collective.op, collective.bytes, shape_.tables);
      return;
  }
}

void PassWriter::add(const GradientReady& gradient, Cause) {
  if (reduction_ == Reduction::none) return;
  const DataParallel& data = shop_.scenario.parallelism.data;
  Bucket& bucket = open_[gradient.expert ? 1 : 0];
  const Bytes bytes{gradient.elements * gradient_bytes(shop_.scenario)};
  // Divided by the number of ranks on the way (torch/csrc/distributed/c10d/reducer.cpp,
  // mark_variable_ready_dense).
  if (copies_gradients(shop_.scenario)) move("gradient to bucket", bytes * 2);
  bucket.bytes += bytes;
  if (reduction_ == Reduction::one_bucket) return;
  if (bucket.bytes >= (bucket.is_first ? data.first_bucket : data.bucket)) flush(bucket);
}

void PassWriter::flush(Bucket& bucket) {
  if (bucket.bytes <= Bytes{0} || bucket.group.is_alone()) return;
  if (!copies_gradients(shop_.scenario)) move("average gradients", bucket.bytes * 2);
  start_reduction(bucket.group, bucket.bytes);
  bucket.bytes = Bytes{0};
  bucket.is_first = false;
}

void PassWriter::close_chain() {
  if (kernels_.empty()) return;
  segment_.emplace_back(
      ChainPiece{add_launched_chain(shop_, std::move(kernels_), shape_.slow.factor)});
  kernels_.clear();
}

void run_forward(PassWriter& writer, const Block& block, Cause cause) {
  for (const Op* op : block.order()) writer.run(op->forward, cause, PassKind::forward);
}

void run_backward(PassWriter& writer, const Block& block, const Recomputation& recompute,
                  PassKind pass) {
  const bool repeats = pass != PassKind::weight_gradient;
  for (const Op* op : block.recomputed(recompute)) {
    if (repeats) writer.run(op->forward, Cause::recompute, PassKind::forward);
  }
  const auto order = block.order();
  for (auto op = order.rbegin(); op != order.rend(); ++op) {
    const auto index = static_cast<std::size_t>(*op - block.dag.ops.data());
    for (const RecomputeRegion& region : block.regions) {
      if (repeats && region.before == index && recompute.repeats(region.module))
        writer.run(region.forward, Cause::recompute, PassKind::forward);
    }
    writer.run((*op)->backward, Cause::backward, pass);
  }
}

}  // namespace stepsim
