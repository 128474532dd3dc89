// Which links checkpoints cross: out of the GPU, and into storage.
#pragma once

#include "sim/cluster/input_links.hpp"
#include "sim/plan/plan.hpp"

namespace stepsim {

/// The rate at which a GPU copies to the memory of its host.
BytesPerSecond staging_rate(const Scenario& scenario);

/// Adds the checkpoint lanes of all ranks. `data` are the links of data.storage; checkpoints use
/// them where they have no storage of their own. REQUIRES: a checkpoint; all programs are there.
void add_checkpoint_lanes(Plan& plan, const Scenario& scenario, const SharedLinks& data);

}  // namespace stepsim
