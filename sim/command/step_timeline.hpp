// The first measured step of a scenario as a timeline that a page can draw.
#pragma once

#include <string>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

struct StepTimelineOptions {
  bool fold = true;
  int replica = 0;
};

/// Simulates the scenario and returns that step as JSON of schema "stepsim.timeline/1". It has the
/// slowest rank, a rank of each stage, and further ones of other classes, while their spans are few
/// enough for a page; single kernels where these are, too.
std::string step_timeline_json(const Scenario& scenario, const StepTimelineOptions& options = {});

}  // namespace stepsim
