// Where the experts of a token are: on how many ranks or nodes, on average over uniform choices.
//
// A router chooses g of G groups, all choices alike, and k of their E' = E g / G experts. A part of
// the experts that has m of them in chosen groups has none of the k with probability
// C(E' - m, k) / C(E', k). So of P equal parts, each within one group,
//   P g/G (1 - C(E' - E/P, k) / C(E', k))
// are reached; of parts with several groups, each with as many of them chosen as chance has it.
#pragma once

#include "sim/scenario/model.hpp"

namespace stepsim {

/// How many of `parts` equal parts of the experts, ranks or nodes, a token reaches. REQUIRES: parts
/// within groups, or of whole ones.
double parts_reached(const Experts& experts, int parts);

}  // namespace stepsim
