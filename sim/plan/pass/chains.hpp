// Kernels with their times, and chains of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/plan/program/plan_draft.hpp"

namespace stepsim {

/// The kernel of that work: its time on the scenario's GPU, and where it was never measured.
Kernel timed(PlanDraft& draft, const std::string& name, const Work& work, Cause cause);

/// A chain of these kernels, on a GPU that takes `factor` times as long; `launch` is the host's
/// time for each. Returns its index into Plan::chains.
std::uint32_t add_chain(Plan& plan, std::vector<Kernel> kernels, Seconds launch, double factor);

/// A chain of kernels that the scenario's host launches: launches that block are part of it.
std::uint32_t add_launched_chain(PlanDraft& draft, std::vector<Kernel> kernels, double factor);

}  // namespace stepsim
