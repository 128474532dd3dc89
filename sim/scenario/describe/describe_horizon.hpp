// The keys of reliability (see describe.hpp for how they are used).
#pragma once

#include "sim/scenario/horizon.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {

template <class Io>
void describe(Io& io, Reliability& r) {
  io.field("gpu_mtbf", r.gpu_mtbf, positive, "mean time between failures of one GPU");
  io.field("node_mtbf", r.node_mtbf, positive,
           "of one node, for all that is not a GPU: host, network, software");
  io.field("detection", r.detection, any_duration, "from a failure until the job is stopped");
  io.field("restart", r.restart, any_duration,
           "from there until the job runs again and reads its checkpoint");
}

}  // namespace stepsim
