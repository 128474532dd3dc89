// The keys of checkpoint and reliability (see describe.hpp for how they are used).
#pragma once

#include "sim/scenario/checkpoint.hpp"
#include "sim/scenario/horizon.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {

template <class Io>
void describe(Io& io, CheckpointStorage& s) {
  io.field("bandwidth", s.bandwidth, non_negative, "of one node; 0 GB/s: no limit");
  io.field("shared_bandwidth", s.shared_bandwidth, non_negative,
           "of all nodes together; 0 GB/s: no limit");
  io.field("stream_bandwidth", s.stream_bandwidth, non_negative,
           "of one rank that writes; 0 GB/s: no limit");
  io.field("through", s.through, any,
           "fabric: writes leave through the NICs that collectives use, too");
}

template <class Io>
void describe(Io& io, Checkpoint& c) {
  io.field("every", c.every, required(large_count),
           "steps from one checkpoint to the next; the first step of the run counts as 1, warm-up "
           "included; where run.steps is no multiple of it the simulated steps have none");
  io.field("mode", c.mode, any,
           "sync: training waits until all is written; async: until all is in the host's memory");
  io.field("sharded", c.sharded, any,
           "every rank writes its part; false: one rank of each part of the model writes all of "
           "that");
  io.field("size", c.size, positive,
           "of all of it; absent: parameters, master weights and optimizer state");
  io.field("d2h_bandwidth", c.d2h_bandwidth, any_rate,
           "of a GPU's copies to the host, instead of the GPU profile's");
  io.section("storage", c.storage, CheckpointStorage{},
             "where it is written to; absent: where data.storage is, beside its loaders");
}

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
