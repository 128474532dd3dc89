// Whether a step ended in the state in which the one before it had ended.
//
// Where nothing is random and every step has the same tasks, what a step does follows from the
// state at its start. If two steps in a row leave the same state, all later ones take as long as
// the second: that a period of a (max, +) system, once reached, is kept (Baccelli, Cohen, Olsder,
// Quadrat 1992, section 3.7), and holds with shared links too, whose rates follow from what is
// under way.
#pragma once

#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// Of the last step and the one before, to a billionth of the last. What can still be felt in the
/// next step is compared: everything that ended after the oldest task began that was under way when
/// the first host came to the end of the step. False where there is one step, or a host that never
/// waits in a step. REQUIRES: the timeline has a rank of each class; every task of a step is
/// launched by a host, or follows from one that is.
bool last_step_repeats(const Timeline& timeline);

}  // namespace stepsim
