// Whether a step ended in the state in which the one before it had ended.
//
// Where nothing is random and every step has the same tasks, what a step does follows from the
// state at its start: from what is under way then, for how long it has been, and how far hosts are.
// So if two steps in a row leave the same state, each later one repeats the second.
#pragma once

#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// Whether the last step and the one before it left the same state, to a billionth of the last.
/// What can still be felt in the next step is compared: with the boundary where the first host's
/// last wait of the step ends, all that ended after the oldest task began that was under way there.
/// False where there is one step, or a host that never waits in a step. REQUIRES: the timeline has
/// a rank of each class; every task of a step is launched by a host, or follows from one that is;
/// none is under way for a whole step.
bool last_step_repeats(const Timeline& timeline);

}  // namespace stepsim
