// NCCL's cost model: what it expects each algorithm and protocol to take, and which it takes.
//
// time = latency + bytes / bandwidth, the least wins (NVIDIA/nccl v2.30.7 src/graph/tuning.cc,
// ncclTopoTuneModel and ncclTopoGetAlgoTime). These are NCCL's expectations, by which it chooses;
// what the choice then takes on given links is the subject of sim/plan/collective.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/nccl/communicator.hpp"
#include "sim/plan/nccl/constants.hpp"

namespace stepsim::nccl {

/// "nvls_tree", "LL128"
const char* name_of(Algorithm algorithm);
const char* name_of(Protocol protocol);

/// One algorithm with one protocol, on a group and a message size.
struct Candidate {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  std::string refusal;  ///< why NCCL does not consider it; empty: it does
  int channels = 0;     ///< on which that message runs, each on one SM
  Seconds latency;
  BytesPerSecond bandwidth;  ///< of the algorithm: bytes of nccl-tests over time

  Seconds time(Bytes bytes) const { return latency + bytes / bandwidth; }
};

/// What NCCL expects; REQUIRES: ranks > 1, and an op that it tunes (not all-to-all, not shift).
Candidate candidate(const Communicator& communicator, CollectiveOp op, Algorithm algorithm,
                    Protocol protocol, Bytes bytes);

/// Whether NCCL tunes the op: it has no model for messages between pairs.
constexpr bool is_tuned(CollectiveOp op) {
  return op != CollectiveOp::all_to_all && op != CollectiveOp::shift;
}

/// Of all those that are considered (and have the wanted protocol), the cheapest; the earlier one
/// of equals; NCCL 2.4 has sizes instead of costs (thresholds.hpp). Empty when none is left.
std::optional<Candidate> cheapest(const Communicator& communicator, CollectiveOp op, Bytes bytes,
                                  std::optional<Algorithm> algorithm = {},
                                  std::optional<Protocol> protocol = {});

/// All of them, by algorithm and protocol, those that are refused too.
std::vector<Candidate> candidates(const Communicator& communicator, CollectiveOp op, Bytes bytes);

}  // namespace stepsim::nccl
