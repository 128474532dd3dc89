// A scenario from the tree of its file, or from one that was put together.
#pragma once

#include <string>

#include "sim/scenario/read/map_reader.hpp"

namespace stepsim {

/// Reads and checks it. `start` is cited for keys that are missing. Throws UserError with every
/// mistake, those that `reading` has already among them.
Scenario scenario_of_tree(const Tree& tree, const Place& start, const std::string& name,
                          const KnownNames& known, Reading& reading);

/// The scenario of a tree before its keys are checked against each other; mistakes stay in
/// `reading`.
Scenario unchecked_scenario(const Tree& tree, const Place& start, const std::string& name,
                            Reading& reading);

}  // namespace stepsim
