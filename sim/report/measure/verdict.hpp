// One or two sentences on what holds the step up: the simulated counterfactual that saves most.
#pragma once

#include <string_view>
#include <vector>

#include "sim/plan/what_if.hpp"
#include "sim/report/measure/metrics.hpp"

namespace stepsim {

/// A limit, and the mean step without it.
struct LimitOutcome {
  const Limit* limit = nullptr;
  Seconds step;
};

/// The verdict: "compute-bound: the GPUs of stage 7 compute 80 % of the step; with an infinitely
/// fast network it would take 25.1 s (-14 %)".
///
/// A step is bound by that without which it would be shortest: one of the limits, or the GPUs' own
/// work (`without_compute` is the step without it). However much of a step GPUs compute, it is not
/// bound by their work where faster GPUs would wait for the same loader. A bubble is other stages'
/// work, which is gone without compute, too: against a bubble, compute counts only what it saves
/// beyond it. Pauses of hosts (their own work) are to blame where the step would be a quarter
/// shorter without them. A next thing to try is only there where a fault has to be mended first.
Verdict verdict(const Metrics& metrics, const std::vector<LimitOutcome>& limits,
                Seconds without_compute);

/// The proposals whose settings may be worth trying, the most promising first: those about the
/// limit that would save most, and those about the GPUs' own work. Where the scenario does not fit
/// in memory, proposals that may make it fit come before them.
std::vector<std::string_view> promising(const Metrics& metrics,
                                        const std::vector<LimitOutcome>& limits);

/// The share of the step that a step of length `step` would save: 0.14, or less than nothing.
double saving(const Metrics& metrics, Seconds step);

}  // namespace stepsim
