// Memory in words: the moment of a peak, and what it consists of.
#pragma once

#include <string>

#include "sim/plan/memory.hpp"

namespace stepsim {

/// "the backward of micro-batch 3"; with the chunk where a stage has several.
std::string moment_of(const PeakMoment& peak, bool chunks);
/// "swiglu of layer", "the end of layer".
std::string place_of(const PeakMoment& peak);

/// "optimizer 30.5, activations 20.3, others 1.1": the largest first, in the unit of the total.
std::string categories_of(const StageMemory& stage);

}  // namespace stepsim
