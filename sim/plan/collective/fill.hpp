// What multicast through NVSwitch waits for between nodes before its links are all busy.
#pragma once

#include "sim/plan/collective.hpp"

namespace stepsim {

/// Each hop has to have what the heads of all channels send at once (sim/plan/nccl/chunks.hpp), over
/// NICs that nobody else uses yet. NCCL's latencies are those of an empty message and leave it out.
/// Nothing on links that were not measured.
Seconds fill_between(const CollectiveJob& job, nccl::Algorithm algorithm, double hops);

}  // namespace stepsim
