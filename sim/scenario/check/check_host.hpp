// The sentences about the CPU side of the training loop.
#pragma once

#include "sim/scenario/check/key_reports.hpp"

namespace stepsim {

void check_host(const Scenario& scenario, const KeyReports& keys);

}  // namespace stepsim
