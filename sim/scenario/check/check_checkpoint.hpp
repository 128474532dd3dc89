// Checks of checkpoint that need other keys.
#pragma once

#include "sim/scenario/check/key_reports.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

void check_checkpoint(const Scenario& scenario, const KeyReports& keys);

}  // namespace stepsim
