// What is left of a scenario that was exported and imported again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// A key that has another value behind the import.
struct KeyDifference {
  std::string key;    ///< "training.gradients"
  std::string here;   ///< as the scenario has it; "absent" where it has no such key
  std::string there;  ///< as the import has it
};

/// The scenario with defaults in all keys that change nothing beside its other keys: kinds of
/// context parallelism without context ranks, say.
Scenario effective(Scenario scenario);

/// Keys that differ and have an effect, in the order of to_yaml; names, sources and what is
/// expected do not count.
std::vector<KeyDifference> differences(const Scenario& here, const Scenario& there);

/// Whether the key is one of those that make the plan: with another value it is another plan.
bool makes_plan(std::string_view key);

}  // namespace stepsim
