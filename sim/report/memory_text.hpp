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

/// Of a GPU's memory: from here on predictions were too fast, for what allocators do when there is
/// little left is not modelled. From the rows of MPT that validate/DEVIATIONS.md has under "Full
/// memory".
inline constexpr double kNearlyFull = 0.93;
inline constexpr const char* kFullMemoryFact =
    "steps of measured runs that filled 93 % and more were predicted 9 to 25 % too short (MPT, "
    "validate/DEVIATIONS.md)";

inline bool is_nearly_full(Bytes used, Bytes capacity) { return used >= capacity * kNearlyFull; }
/// "fills 98 % of the memory: steps of measured runs that ..."; empty below that.
std::string full_memory_text(Bytes used, Bytes capacity);

}  // namespace stepsim
