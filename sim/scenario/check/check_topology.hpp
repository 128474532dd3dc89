// Whether the topologies of a cluster are known, and fit its size and its other keys.
#pragma once

#include "sim/scenario/check/key_reports.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// A topology that is not listed in `known` is not checked, an empty list checks nothing.
void check_topology(const Cluster& cluster, const KnownNames& known, const KeyReports& keys);

/// Whether the links that the scenario names exist. REQUIRES: check_topology was called.
void check_link_names(const Scenario& scenario, const KnownNames& known, const KeyReports& keys);

}  // namespace stepsim
