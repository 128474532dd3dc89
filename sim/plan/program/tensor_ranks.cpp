// One all-gather on the tensor ranks' channel.
#include "sim/plan/program/tensor_ranks.hpp"

namespace stepsim {
namespace {

constexpr Channel kChannel = channel_along(Axis::tensor);

}  // namespace

const GroupShape& tensor_ranks(const StageShape& shape) { return shape.of(kChannel); }

TaskIndex TensorRanksGather::after(TaskIndex received, Cause wait_cause) {
  if (!operation_) {
    Workshop& shop = rows_.shop();
    operation_ =
        add_collective(shop, CollectiveOp::all_gather, bytes_, tensor_ranks(rows_.shape()));
    if (!name_.empty()) shop.plan.operations[*operation_].name = shop.name(name_);
  }
  return rows_.communicate(kChannel, *operation_, {received}, wait_cause);
}

}  // namespace stepsim
