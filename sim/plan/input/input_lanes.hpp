// The lanes of ranks that load: which links their loaders and copies cross, and how fast at most.
#pragma once

#include "sim/cluster/input_links.hpp"
#include "sim/plan/plan.hpp"

namespace stepsim {

/// Whether copies to the GPU cross links that traffic of NICs crosses, too.
bool shares_slot(const Network& network, const Cluster& cluster);

/// The rate of copies to the GPU.
BytesPerSecond copy_rate(const Scenario& scenario);

/// Adds the links, the lanes of all ranks that load, and how samples vary; returns the links.
/// REQUIRES: all programs are written. Throws UserError when the loaders of a node need more memory
/// than it has.
InputLinks add_input(Plan& plan, const Scenario& scenario, const PlanOptions& options);

}  // namespace stepsim
