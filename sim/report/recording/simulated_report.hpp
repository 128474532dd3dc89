// Writers of what a trace of stepsim shows, for people and for programs.
#pragma once

#include <string>

#include "sim/recording/simulated/simulated_trace.hpp"
#include "sim/report/measure/metrics.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

/// For a terminal: what the file is and what it does not have, then the report of a run.
/// `metrics` are measured on the trace's timeline.
std::string to_table(const SimulatedTrace& trace, const Metrics& metrics, const Screen& screen);

/// One object of schema "stepsim.recording/1", as of recordings of real runs: base SI units, and
/// each key says its unit. `breakdown_s` sums to a mean step, that of the document is the slowest
/// rank's; `collectives` are its communication along each axis.
std::string to_json(const SimulatedTrace& trace, const Metrics& metrics);

}  // namespace stepsim
