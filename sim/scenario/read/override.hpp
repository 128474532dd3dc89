// `--set path=value`: changes to the tree of a scenario before it is read.
#pragma once

#include "sim/scenario/load.hpp"
#include "sim/scenario/read/tree.hpp"

namespace stepsim {

/// Sets the key at the path, with maps made on the way. A cluster or model given by name becomes
/// `{base: name}` when one of its keys is set. Unknown keys are left for the reader to report,
/// under the name of the override.
void apply(const Override& change, Tree& scenario, Problems& problems);

/// Sets the key at the path to a value that is a tree already; `place` is where the change stands.
void set_value(const std::string& path, Tree value, const Place& place, Tree& scenario,
               Problems& problems);

}  // namespace stepsim
