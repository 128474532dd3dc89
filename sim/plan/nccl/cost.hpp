// NCCL's cost model: the time it expects of each algorithm and protocol, and which pair it chooses.
//
// The least time = latency + bytes / bandwidth wins (NVIDIA/nccl v2.30.7 src/graph/tuning.cc,
// ncclTopoTuneModel and ncclTopoGetAlgoTime). NCCL chooses by such expectations; the time that its
// choice then takes on given links is the subject of sim/plan/collective.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/nccl/communicator.hpp"
#include "sim/plan/nccl/constants.hpp"

namespace stepsim::nccl {

/// The name in NCCL's spelling: "nvls_tree", "LL128".
const char* name_of(Algorithm algorithm);
const char* name_of(Protocol protocol);

/// One algorithm with one protocol, for one group and one message size.
struct Candidate {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  std::string refusal;  ///< why NCCL does not consider the pair; empty: it does
  int channels = 0;     ///< channels that the message runs on, each on one SM
  Seconds latency;
  BytesPerSecond bandwidth;  ///< bytes of nccl-tests over time, for the algorithm

  Seconds time(Bytes bytes) const { return latency + bytes / bandwidth; }
};

/// What NCCL expects of a pair. REQUIRES: ranks > 1, and an op that NCCL tunes (see is_tuned).
Candidate candidate(const Communicator& communicator, CollectiveOp op, Algorithm algorithm,
                    Protocol protocol, Bytes bytes);

/// Whether NCCL tunes the op. It has no model for messages between pairs.
constexpr bool is_tuned(CollectiveOp op) {
  return op != CollectiveOp::all_to_all && op != CollectiveOp::shift;
}

/// The cheapest candidate that NCCL considers (and that has the wanted protocol), the earlier one
/// of equals. NCCL 2.4 decides by sizes instead of costs (thresholds.hpp). Empty when none is left.
std::optional<Candidate> cheapest(const Communicator& communicator, CollectiveOp op, Bytes bytes,
                                  std::optional<Algorithm> algorithm = {},
                                  std::optional<Protocol> protocol = {});

/// All candidates by algorithm and protocol, those that NCCL refuses among them.
std::vector<Candidate> candidates(const Communicator& communicator, CollectiveOp op, Bytes bytes);

}  // namespace stepsim::nccl
