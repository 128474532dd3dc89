// Collectives inside a node: for each kind, number of GPUs, algorithm and protocol the line
// latency + size / bandwidth, or two where that takes a third of the error away and larger messages
// have the larger bandwidth (of two lines the lesser time holds). Which algorithm and protocol ran
// at a size is NCCL's choice, which the caller knows.
#pragma once

#include <vector>

#include "sim/calibrate/fit/line.hpp"
#include "sim/calibrate/fit/sample.hpp"

namespace stepsim::fit {

/// What is known of one regime (a kind, number of GPUs, algorithm and protocol) before the fit.
struct Regime {
  std::vector<Message> messages;
  double least = 0;  ///< seconds a byte, of a link that cannot be faster
  Line expected;     ///< NCCL's own, for a regime of a single size; a slope of 0: none
};

/// Several lines hold as the least of them. REQUIRES: at least one message.
std::vector<Line> fit_lines(const Regime& regime);

/// The least time on these lines. REQUIRES: at least one line.
Seconds time_on(const std::vector<Line>& lines, Bytes bytes);

}  // namespace stepsim::fit
