// Which keys of gathers of parameters, and of reductions, go with what is sharded.
#pragma once

#include "sim/scenario/key_reports.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Whether parameters are gathered whole once their shards were updated.
constexpr bool gathers_updates(Sharding sharding) {
  return sharding == Sharding::zero1 || sharding == Sharding::zero2;
}

/// Takes back what is about gathers and reductions that there are not.
constexpr void drop_idle_gathers(DataParallel& data) {
  data.overlap_param_gather &= gathers_updates(data.sharding) && data.overlap;
  data.align_param_gather &= data.overlap_param_gather;
  data.copy_out &= data.sharding == Sharding::zero3;
  data.loop_copies &= data.sharding == Sharding::zero3 && data.overlap;
  data.all_reduce_gradients &= data.sharding == Sharding::zero1 && !data.shard_degree;
}

/// Reports what would be taken back, but for what the framework has by itself.
void check_gathers(const Scenario& scenario, const KeyReports& keys);

}  // namespace stepsim
