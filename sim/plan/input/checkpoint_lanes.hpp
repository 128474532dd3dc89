// Which links checkpoints cross: out of the GPU, and into storage.
#pragma once

#include "sim/cluster/input_links.hpp"
#include "sim/plan/plan.hpp"

namespace stepsim {

/// At which a GPU copies to its host's memory.
BytesPerSecond staging_rate(const Scenario& scenario);

/// Adds the lanes of all ranks. `data`: the links of data.storage, which checkpoints use, too,
/// where they have no storage of their own. REQUIRES: a checkpoint; all programs are there.
void add_checkpoint_lanes(Plan& plan, const Scenario& scenario, const SharedLinks& data);

}  // namespace stepsim
