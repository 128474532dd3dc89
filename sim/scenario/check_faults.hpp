// Checks of what is slow or varies.
#pragma once

#include "sim/scenario/key_reports.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Ranks and nodes that exist, windows that open, distributions that can be drawn from; and that
/// replicas have something to differ in.
void check_faults(const Scenario& scenario, const KeyReports& keys);

}  // namespace stepsim
