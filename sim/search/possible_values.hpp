// What would be possible where restricted axes leave no strategy.
#pragma once

#include <string>

#include "sim/search/space.hpp"

namespace stepsim {

/// Says of each axis that has none of the values which `whole` has, the axes without restrictions,
/// what would be possible: "tensor can be 1, 2, 4, 8". Empty: they all have some.
std::string possible_values(const Axes& whole, const Axes& restricted);

/// Why it changes nothing that axes are restricted, where no value of theirs is ever asked for, or
/// which values the scenario's framework has: "the model has no experts, ...". Empty: all
/// change something.
std::string idle_values(const Axes& restricted, const SearchBase& base);

}  // namespace stepsim
