// What a scenario states and a framework does not have.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/describe/framework_abilities.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// One value of a key that has an effect, and the row of abilities that has others.
struct Lack {
  std::string key, value;
  const FrameworkAbility* row;
};

/// All of them, in the order of `keys_of`.
std::vector<Lack> lacking(Framework framework, const Scenario& scenario);

/// Whether a changed scenario asks its framework for something that it lacks and that it was not
/// asked for before. A scenario without a framework asks for nothing.
bool lacks_more(const Scenario& changed, const Scenario& before);

}  // namespace stepsim
