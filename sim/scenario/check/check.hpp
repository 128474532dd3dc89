// What must hold between the keys of a scenario, after each key for itself has been read.
//
// Each check is one sentence with the numbers on both sides, at the key that one would change. A
// check is left out when one of the keys that it speaks about was already reported.
#pragma once

#include "sim/scenario/read/map_reader.hpp"

namespace stepsim {

void check_model(const Model& model, Reading& reading);
void check_cluster(const Cluster& cluster, Reading& reading);
void check_scenario(const Scenario& scenario, const KnownNames& known, Reading& reading);

}  // namespace stepsim
