// Which part of a run a trace has, as the command line says it.
#pragma once

#include <string>

#include "sim/scenario/scenario.hpp"
#include "sim/timeline/chosen.hpp"

namespace stepsim {

/// Words of the command line; empty ones choose all.
struct TraceWords {
  std::string steps;             ///< 3-5
  std::string ranks;             ///< 0,8-15
  std::string level = "kernel";  ///< what a slice of the compute row is: kernel, task
};

/// What the words choose of that scenario's run. Throws UserError for what is no range, and for
/// steps and ranks that there are not.
TimelineChoice trace_choice(const TraceWords& words, const Scenario& scenario);

}  // namespace stepsim
