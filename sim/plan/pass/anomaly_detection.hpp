// What torch.autograd.set_detect_anomaly adds to kernels and to the host (host.anomaly_detection).
#pragma once

#include <vector>

#include "sim/plan/program/plan_draft.hpp"

namespace stepsim {

/// Seconds that anomaly detection adds to one kernel.
struct Anomalies {
  double trace = 0;  ///< of the host before its launch: the stack is kept as text
  double check = 0;  ///< of kernels that look for NaN in its result
};
/// Zero where the scenario has no anomaly detection. Formulas and sources: anomaly_detection.cpp.
Anomalies anomalies_of(const PlanDraft& draft, const Work& work, Cause cause);

/// The kernels with what the GPU waits for where results are checked: the host launches ahead until
/// it has to read an answer back. Each check is two launches and two kernels.
std::vector<Kernel> checked(PlanDraft& draft, const std::vector<Kernel>& kernels, Seconds launch);

}  // namespace stepsim
