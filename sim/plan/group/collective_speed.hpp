// How long an algorithm of NCCL really takes: what nccl-tests measured, and NCCL's own formula
// scaled by that.
//
// Inside a node a link profile has measured lines t(S) = latency + S / bandwidth, for each kind of
// collective, number of ranks, algorithm and protocol; where several are given, the least holds.
// For numbers of ranks that nobody measured the formula of NCCL takes their place, times measured
// over expected at the nearest numbers (in between by log(ranks)). A regime that nobody measured
// borrows the ratio of the same protocol, or of all.
//
// Between nodes NCCL's limits on bandwidth hold as they are: they were tuned on nodes. Its
// latencies are stretched by one factor of the link: what 64 KiB take in a ring of LL over the most
// GPUs of a node that were measured, over what NCCL expects. What a hop of the fabric takes beyond
// the 14 us that one of the Simple protocol has on InfiniBand is added as it is: to Simple twice, as
// NCCL counts what a plugin reports (src/graph/tuning.cc: a flush of what arrived), to LL128 once,
// to LL in the proportion of its hop in a tree on InfiniBand (5 us). LL's are messages of a few KiB,
// LL128's as long as Simple's: 16 to 256 GPUs on EFA gather 32 MiB at 8.7 to 9.9 us a step, of which
// seven in eight are inside nodes. A hop that takes less shortens NCCL's in proportion. What the
// plugin itself reports decides about algorithm and protocol alone: the 75 us of aws-ofi-nccl are
// "empirical", for better choices (its src/platform-aws.cpp), and two nodes of p5 reduce 1 KiB in
// 69. Trees over two nodes, which NCCL expects to carry up to twice as much inside as between, have
// the rate that such nodes have. What a fabric was measured to take stands above all this
// (sim/plan/group/fabric_curve.hpp).
#pragma once

#include <optional>
#include <string_view>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/group/group_shape.hpp"
#include "sim/plan/nccl/communicator.hpp"
#include "sim/plan/nccl/constants.hpp"

namespace stepsim {

/// How fast one algorithm and protocol is on one group: bytes of nccl-tests over time.
struct Speed {
  Seconds latency;
  BytesPerSecond bandwidth;
  Seconds time(Bytes bytes) const { return latency + bytes / bandwidth; }
};

/// What NCCL sees of a group.
nccl::Communicator communicator_of(const GroupShape& group, const Cluster& cluster,
                                   NcclVersion version);

/// Whether the node's link was measured at all. Where it was not, its bandwidth and latency are all
/// that is known, and collectives are alpha-beta.
bool is_measured(const LinkProfile& link);

/// What an algorithm of NCCL takes. Nothing where the link was not measured.
std::optional<Speed> speed_of(CollectiveOp op, Bytes bytes, nccl::Algorithm algorithm,
                              Protocol protocol, const GroupShape& group, const Cluster& cluster,
                              NcclVersion version);

/// What messages between all pairs inside a node take. NCCL has no formula for them: the link's
/// latency and rate stand for it. Nothing where the link was not measured.
std::optional<Speed> pairwise_speed(Bytes bytes, Protocol protocol, int ranks,
                                    const LinkProfile& link);

/// The measured latency of the node's link over the one that NCCL expects.
double latency_factor(const Cluster& cluster, NcclVersion version);

}  // namespace stepsim
