// A scenario from the tree of its file, or from one that was put together.
#pragma once

#include <string>

#include "sim/scenario/map_reader.hpp"

namespace stepsim {

/// Reads and checks it. `start` is cited for keys that are missing. Throws UserError with every
/// mistake, those that `reading` has already among them.
Scenario scenario_of_tree(const Tree& tree, const Place& start, const std::string& name,
                          const KnownNames& known, Reading& reading);

}  // namespace stepsim
