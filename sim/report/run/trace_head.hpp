// What a trace says of itself, before its events.
#pragma once

#include <string>

#include "sim/report/run/trace.hpp"

namespace stepsim {

/// The value of `otherData`: an object, on one line. `timeline` is the part that is written, of
/// `simulated` ranks.
std::string trace_head_json(const TraceHead& head, const Timeline& timeline,
                            const TimelineChoice& choice, std::size_t simulated);

}  // namespace stepsim
