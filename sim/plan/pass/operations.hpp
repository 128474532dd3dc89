// Collectives and exchanges of tokens as operations of a plan.
#pragma once

#include <cstdint>

#include "sim/plan/program/plan_draft.hpp"

namespace stepsim {

/// Adds the operation to the plan; its phases are chosen by the scenario's `collectives`. Returns
/// its index into Plan::operations.
std::uint32_t add_collective(PlanDraft& draft, CollectiveOp op, Bytes bytes,
                             const GroupShape& group);

/// The operation of passes that start it again and again: added when one first does.
std::uint32_t pass_collective(PlanDraft& draft, CollectiveOp op, Bytes bytes,
                              const GroupShape& group);

/// A shift around the group by copy engines, which hold no SMs.
std::uint32_t copied_shift(PlanDraft& draft, Bytes bytes, const GroupShape& group);

/// An exchange of tokens between the ranks of experts, by NCCL's messages or by a library's own kernels:
/// `bytes` that a rank receives, or sends on the way back. Passes that start the same one again and
/// again share it.
std::uint32_t exchange(PlanDraft& draft, Bytes bytes, const GroupShape& group);

}  // namespace stepsim
