// What a recording cannot answer, and what has to be known about its answers.
#pragma once

#include <string>
#include <vector>

#include "sim/recording/observation.hpp"

namespace stepsim {

/// Sentences, the most important ones first; none for a recording that is whole.
std::vector<std::string> not_known(const Recording& recording, const Observation& seen);

}  // namespace stepsim
