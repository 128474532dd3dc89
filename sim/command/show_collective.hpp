// stepsim show collective: who would do a collective, what each candidate costs, and why one won.
#pragma once

#include <iosfwd>

#include "sim/command/show.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Throws UserError when the op or the group is unknown, or the size is not one.
void show_collective(const Scenario& scenario, const CollectiveQuestion& question,
                     std::ostream& out);

}  // namespace stepsim
