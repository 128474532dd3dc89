// Checks of what is slow or varies.
#pragma once

#include "sim/scenario/check/key_reports.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Ranks and nodes that exist, windows that open, distributions that can be drawn from; and that
/// replicas have something to differ in.
/// A distribution's name and what it is told, in the map at that path.
void check_distribution(const std::string& at, const std::string& name, const Spread& spread,
                        const KeyReports& keys);

void check_faults(const Scenario& scenario, const KeyReports& keys);

}  // namespace stepsim
