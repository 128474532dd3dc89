// Memory in words: the moment of a peak, and what it consists of.
#pragma once

#include <string>

#include "sim/plan/memory/memory.hpp"

namespace stepsim {

/// When the peak is: "backward of micro-batch 3"; with the chunk where a stage has several.
std::string moment_of(const PeakMoment& peak, bool chunks);
/// Where the peak is: "swiglu of layer", "the end of layer".
std::string place_of(const PeakMoment& peak);

/// The categories of a stage: "optimizer 30.5 GiB, activations 20.3, others 1.1". The largest comes
/// first; all have its unit, that of the total.
std::string categories_of(const StageMemory& stage);

/// A share of a GPU's memory: what allocators do when little is left is not modelled, and from here
/// on some steps took much longer. From the rows that validate/DEVIATIONS.md has under "Full
/// memory".
inline constexpr double kNearlyFull = 0.93;
inline constexpr const char* kFullMemoryFact =
    "two of 27 measured runs at 93 % and more took about 30 % longer than predicted "
    "(validate/DEVIATIONS.md)";

inline bool is_nearly_full(Bytes used, Bytes capacity) { return used >= capacity * kNearlyFull; }
/// The warning "fills 98 % of the memory: two of 27 measured runs ..."; empty below kNearlyFull.
/// What is above the capacity fits once cached fragments are given back.
std::string full_memory_text(Bytes used, Bytes capacity);

}  // namespace stepsim
