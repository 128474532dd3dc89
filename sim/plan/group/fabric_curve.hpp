// What nccl-tests measured of a collective over several nodes, at any size.
//
// Between two measured sizes times lie on a straight line, which is a latency and a rate of that
// stretch. The curve tells what the whole collective takes; how that divides into latency and flows
// on the links is the algorithm's (sim/plan/collective.hpp).
#pragma once

#include <optional>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/group/group_shape.hpp"
#include "sim/scenario/cluster.hpp"

namespace stepsim {

/// The curve of just such a group; null where none has sizes.
const FabricCurve* curve_of(CollectiveOp op, const GroupShape& group, const Cluster& cluster);

/// The size itself where it lies between measured ones, else the measured one next to it.
/// REQUIRES: at least one size.
Bytes nearest_within(const FabricCurve& curve, Bytes bytes);

/// REQUIRES: at least one size, `bytes` not beyond all of them.
Seconds time_on(const FabricCurve& curve, Bytes bytes);

}  // namespace stepsim
