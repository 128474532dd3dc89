// The sentences about loaders, storage and data sets.
#pragma once

#include "sim/scenario/check/key_reports.hpp"

namespace stepsim {

void check_input(const Scenario& scenario, const KeyReports& keys);

}  // namespace stepsim
