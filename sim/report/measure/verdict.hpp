// One or two sentences on what holds the step up: the counterfactual that saves most, which was
// simulated.
#pragma once

#include <string_view>
#include <vector>

#include "sim/plan/what_if.hpp"
#include "sim/report/measure/metrics.hpp"

namespace stepsim {

/// The mean step within a limit.
struct LimitOutcome {
  const Limit* limit = nullptr;
  Seconds step;
};

/// "compute-bound: the GPUs of stage 7 compute 80 % of the step; with an infinitely fast network it
/// would take 25.1 s (-14 %)".
///
/// Bound by that without which the step would be shortest: one of the limits, or the GPUs' own work
/// (`without_compute` is the step without it). However much of a step GPUs compute, it is not bound
/// by that where faster ones would wait for the same loader. A bubble is other stages' work, which
/// is gone without compute, too: against it only what is saved beyond it counts. Pauses of hosts
/// (their own work) are to blame where the step would be a quarter shorter without them. What to
/// try next is only there where a fault has to be mended first.
Verdict verdict(const Metrics& metrics, const std::vector<LimitOutcome>& limits,
                Seconds without_compute);

/// The proposals whose settings may be worth trying, the most promising first: those about the
/// limit that would save most, and those about the GPUs' own work. Before them, where the scenario
/// does not fit in memory, those that may make it fit.
std::vector<std::string_view> promising(const Metrics& metrics,
                                        const std::vector<LimitOutcome>& limits);

/// Of a step, what that saves: 0.14, or less than nothing.
double saving(const Metrics& metrics, Seconds step);

}  // namespace stepsim
