// Exchanges of tokens between the ranks of experts: by NCCL's messages, or by DeepEP's kernels.
#pragma once

#include "sim/plan/program/plan_draft.hpp"

namespace stepsim {

/// `bytes` that a rank receives, or sends on the way back. Passes that start the same one again and
/// again share it.
std::uint32_t exchange(PlanDraft& draft, Bytes bytes, const GroupShape& group);

}  // namespace stepsim
