// Names that other rooms own: schedules, topologies, collectives, optimizers, FLOP conventions.
#pragma once

#include "sim/scenario/check/key_reports.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Whether each is known, and goes with the model and the split. What is not listed in `known` is
/// not checked.
void check_names(const Scenario& scenario, const KnownNames& known, const KeyReports& keys);

}  // namespace stepsim
