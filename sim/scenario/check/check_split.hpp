// How the ranks and the batch are dealt out: degrees, their order, micro-batches.
#pragma once

#include "sim/scenario/check/key_reports.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Whether the number of data-parallel ranks is known and whole.
bool splits(const Scenario& scenario, const KeyReports& keys);

void check_split(const Scenario& scenario, const KeyReports& keys);

}  // namespace stepsim
