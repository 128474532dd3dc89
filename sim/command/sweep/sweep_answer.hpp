// What a sweep's file says of it, ready to be printed.
#pragma once

#include "sim/command/sweep.hpp"
#include "sim/report/sweep.hpp"
#include "sim/scenario/sweep/sweep_points.hpp"
#include "sim/store/sweep_store.hpp"
#include "sim/sweep/shard.hpp"

namespace stepsim {

SweepAnswer sweep_answer(const Sweep& sweep, const PointList& points, const Shard& shard,
                         const SweepStore& store, const SweepOptions& options);

}  // namespace stepsim
