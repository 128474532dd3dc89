// What a scenario leaves open and what matters for its step: the keys that somebody should look at.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// A key that nobody stated, with the value that was taken.
struct AssumedKey {
  std::string key;    ///< "training.attention"
  std::string value;  ///< "unfused"; "none" where a section is absent; or what is taken for it
};

/// The keys that change a step by a few per cent or more on common jobs, and that are neither in
/// `stated` (of stated_keys) nor set by the scenario's framework, in the order of the scenario. Then
/// what was measured of other sizes than the scenario's.
std::vector<AssumedKey> assumed_keys(const Scenario& scenario, const std::set<std::string>& stated);

}  // namespace stepsim
