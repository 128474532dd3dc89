// The program of one kind of rank: passes in schedule order, transfers, input, optimizer.
#pragma once

#include "sim/plan/program/plan_draft.hpp"

namespace stepsim {

/// Writes all steps of a rank of that shape. Throws UserError when the schedule is unknown.
Program stage_program(PlanDraft& draft, const StageShape& shape);

/// The most tasks of all programs together: some 5 GB, and with their spans 10 GB. One program by
/// itself, which is counted before it is written, may have as many.
inline constexpr double kMostTasks = 5e7;

}  // namespace stepsim
