// The program of one kind of rank: passes in schedule order, transfers, input, optimizer.
#pragma once

#include "sim/plan/program/plan_draft.hpp"

namespace stepsim {

/// Writes all steps of a rank of that shape. Throws UserError when the schedule is unknown.
Program stage_program(PlanDraft& draft, const StageShape& shape);

}  // namespace stepsim
