// One all-gather on the tensor ranks' channel.
#include "sim/plan/program/tensor_ranks.hpp"

#include "sim/plan/pass/operations.hpp"

namespace stepsim {
namespace {

constexpr Channel kChannel = channel_along(Axis::tensor);

}  // namespace

const GroupShape& tensor_ranks(const StageShape& shape) { return shape.of(kChannel); }

TaskIndex TensorRanksGather::after(TaskIndex received, Cause wait_cause) {
  if (!operation_) {
    PlanDraft& draft = rows_.draft();
    operation_ =
        add_collective(draft, CollectiveOp::all_gather, bytes_, tensor_ranks(rows_.shape()));
    if (!name_.empty()) draft.plan.operations[*operation_].name = draft.name(name_);
  }
  return rows_.communicate(kChannel, *operation_, {received}, wait_cause);
}

}  // namespace stepsim
