// The first measured step of a scenario as a timeline that a page can draw.
#pragma once

#include <string>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/plan.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

struct StepTimelineOptions {
  bool fold = true;
  int replica = 0;
  int beside = 0;  ///< other timelines that the page has room for, too
};

/// Simulates the scenario and returns that step as JSON of schema "stepsim.timeline/1". It has the
/// slowest rank, a rank of each stage, and further ones of other classes, while their spans are few
/// enough for a page; single kernels where these are, too.
std::string step_timeline_json(const Scenario& scenario, const StepTimelineOptions& options = {});
/// A step as JSON of a timeline that is there already, without a simulation; `level` says what its
/// slices of compute rows are.
std::string step_timeline_json(const Scenario& scenario, const OpGraph& graph, const Plan& plan,
                               const Timeline& timeline, const std::string& level);

}  // namespace stepsim
