// Who does a collective, and the one phase of what is pipelined.
#include "sim/plan/collective.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "sim/plan/group/fabric_curve.hpp"
#include "sim/plan/nccl/channels.hpp"
#include "sim/plan/nccl/cost.hpp"
#include "sim/plan/nccl/refusal.hpp"

namespace stepsim {
namespace {

/// Bytes on a link over bytes of payload: LL sends a flag with every word, LL128 one in a line of
/// 128 B (NVIDIA/nccl src/include/device.h).
double flagged(Protocol protocol) {
  switch (protocol) {
    case Protocol::ll:
      return 2;
    case Protocol::ll128:
      return 128.0 / 120;
    case Protocol::simple:
      return 1;
  }
  return 1;
}

void add_flow(Phase& phase, const CollectiveJob& job, Pattern pattern, Bytes payload,
              BytesPerSecond link) {
  if (!(payload > Bytes{0})) return;
  // What was measured inside a node has the flags in its bandwidth.
  const bool measured = job.speed && job.group.nodes == 1;
  const Bytes carried = measured ? payload : payload * flagged(job.protocol);
  BytesPerSecond rate = link;
  if (job.speed) rate = std::min(rate, carried / (job.request.bytes / job.speed->bandwidth));
  phase.flows.push_back({pattern, carried, rate});
}

/// By NCCL's formula and the lines of the node's link, whatever the fabric was measured to take.
Phases expected_phases(const Decision& decision, const CollectiveRequest& request,
                       const GroupShape& group, const Cluster& cluster,
                       const Collectives& collectives) {
  const CollectiveAlgorithm& algorithm = *decision.algorithm;
  CollectiveJob job{request, group, cluster, collectives.nccl, decision.protocol, {}};
  if (algorithm.nccl)
    job.speed = speed_of(request.op, request.bytes, *algorithm.nccl, decision.protocol, group,
                         cluster, collectives.nccl);
  return algorithm.phases(job);
}

double measured_over_expected(const FabricCurve& curve, CollectiveRequest request,
                              const GroupShape& group, const Cluster& cluster,
                              const Collectives& collectives) {
  request.bytes = nearest_within(curve, request.bytes);
  const Decision there = decide(request, group, cluster, collectives);
  return time_on(curve, request.bytes) /
         uncontended(expected_phases(there, request, group, cluster, collectives));
}

void stretch(Phases& phases, double ratio) {
  for (Phase& phase : phases) {
    phase.latency *= ratio;
    for (PhaseFlow& flow : phase.flows) flow.rate = flow.rate / ratio;
  }
}

/// The choices of a scenario that states NCCL's release and nothing else.
Collectives chosen_by_nccl(const CollectiveJob& job) {
  Collectives collectives;
  collectives.nccl = job.version;
  return collectives;
}

/// The choice between algorithms of one op on one group.
class Chooser {
 public:
  Chooser(const CollectiveRequest& request, const GroupShape& group, const Cluster& cluster,
          const Collectives& collectives)
      : request_(request),
        group_(group),
        cluster_(cluster),
        choice_(choice_for(request.op, collectives)),
        version_(collectives.nccl),
        communicator_(communicator_of(group, cluster, version_)) {}

  Decision decide() const {
    if (choice_.algorithm == "auto") return by_nccl("");
    const auto* stated = Registry<CollectiveAlgorithm>::find(choice_.algorithm);
    if (stated == nullptr)
      throw UserError("unknown collective algorithm '" + choice_.algorithm + "'");
    check(*stated);
    const std::string refusal = shape_refusal(*stated);
    if (!refusal.empty()) return by_nccl(refusal);
    if (stated->nccl && choice_.protocol) return {stated, *choice_.protocol, ""};
    return stated->nccl ? named(cheapest(stated->nccl), "")
                        : Decision{stated, protocol_of_pairs(), ""};
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    throw UserError(
        fmt::format("collectives.{}: {} {}", name_of(request_.op), choice_.algorithm, reason));
  }

  /// What no group of this cluster could change.
  void check(const CollectiveAlgorithm& stated) const {
    if (!stated.makes(request_.op)) {
      std::vector<std::string> others;
      for (const auto* each : Registry<CollectiveAlgorithm>::all())
        if (each->makes(request_.op)) others.emplace_back(each->name);
      refuse(fmt::format("makes no {}, as {} do", name_of(request_.op), fmt::join(others, ", ")));
    }
    if (!stated.nccl) {
      // Pairs go by a protocol, too. What is made of several collectives leaves it to NCCL.
      if (choice_.protocol && nccl::is_tuned(request_.op)) refuse("takes no protocol");
      return;
    }
    const std::string lacking = nccl::lacking(communicator_, *stated.nccl);
    if (!lacking.empty()) refuse(lacking);
    if (!choice_.protocol) return;
    const std::string other =
        nccl::protocol_refusal(communicator_, *stated.nccl, *choice_.protocol);
    if (!other.empty()) refuse(other);
  }

  std::string shape_refusal(const CollectiveAlgorithm& stated) const {
    if (stated.nccl) return nccl::refusal(communicator_, request_.op, *stated.nccl);
    if (stated.refusal == nullptr) return "";
    return stated.refusal({request_, group_, cluster_, version_, Protocol::simple, {}});
  }

  Decision by_nccl(const std::string& refusal) const {
    if (!nccl::is_tuned(request_.op))
      return {Registry<CollectiveAlgorithm>::find("pairwise"), protocol_of_pairs(), refusal};
    return named(cheapest({}), refusal);
  }

  std::optional<nccl::Candidate> cheapest(std::optional<nccl::Algorithm> algorithm) const {
    // A link that nobody measured has one latency and one rate: those of Simple.
    auto protocol = choice_.protocol;
    if (!protocol && !is_measured(cluster_.intra_node)) protocol = Protocol::simple;
    return nccl::cheapest(communicator_, request_.op, request_.bytes, algorithm, protocol);
  }

  Decision named(const std::optional<nccl::Candidate>& candidate,
                 const std::string& refusal) const {
    if (!candidate && choice_.protocol) {
      const std::string other =
          nccl::protocol_refusal(communicator_, nccl::Algorithm::ring, *choice_.protocol);
      throw UserError(fmt::format("collectives.{}: no algorithm has {} here, ring {}",
                                  name_of(request_.op), nccl::name_of(*choice_.protocol), other));
    }
    if (!candidate) throw InternalError("no algorithm is left for a collective");
    return {Registry<CollectiveAlgorithm>::find(nccl::name_of(candidate->algorithm)),
            candidate->protocol, refusal};
  }

  /// NCCL sends up to 16 KiB to a peer by LL (ncclParamP2pLLThreshold in src/enqueue.cc).
  Protocol protocol_of_pairs() const {
    if (choice_.protocol) return *choice_.protocol;
    return request_.bytes / group_.ranks <= 16_KiB ? Protocol::ll : Protocol::simple;
  }

  const CollectiveRequest& request_;
  const GroupShape& group_;
  const Cluster& cluster_;
  const CollectiveChoice& choice_;
  NcclVersion version_;
  nccl::Communicator communicator_;
};

}  // namespace

Phases one_phase(const CollectiveJob& job, const Load& load) {
  const Cluster& cluster = job.cluster;
  Phase phase;
  phase.latency = cluster.intra_node.latency * load.steps_inside;
  if (cluster.inter_node) phase.latency += cluster.inter_node->latency * load.steps_between;
  if (job.speed) phase.latency = job.speed->latency;
  add_flow(phase, job, Pattern::inside, load.inside, node_rate(cluster));
  if (job.group.nodes > 1) add_flow(phase, job, Pattern::between, load.between, nic_rate(cluster));
  return {phase};
}

double bus_factor(CollectiveOp op, int ranks) {
  if (op == CollectiveOp::shift || op == CollectiveOp::broadcast || op == CollectiveOp::reduce)
    return 1;
  const double share = static_cast<double>(ranks - 1) / ranks;
  return op == CollectiveOp::all_reduce ? 2 * share : share;
}

double levels(int count) { return std::ceil(std::log2(static_cast<double>(count)) - 1e-9); }

BytesPerSecond nic_rate(const Cluster& cluster) {
  return cluster.inter_node->bandwidth * cluster.inter_node->efficiency;
}

BytesPerSecond node_rate(const Cluster& cluster) {
  return cluster.intra_node.bandwidth * cluster.intra_node.efficiency;
}

Seconds uncontended(const Phases& phases) {
  Seconds sum;
  for (const Phase& phase : phases) {
    Seconds longest;
    for (const PhaseFlow& flow : phase.flows) longest = std::max(longest, flow.alone());
    sum += phase.latency + longest;
  }
  return sum;
}

const CollectiveChoice& choice_for(CollectiveOp op, const Collectives& collectives) {
  static const CollectiveChoice automatic;
  const StatedCollective* stated = stated_collective(op);
  return stated == nullptr ? automatic : collectives.*stated->choice;
}

Decision decide(const CollectiveRequest& request, const GroupShape& group, const Cluster& cluster,
                const Collectives& collectives) {
  return Chooser(request, group, cluster, collectives).decide();
}

Phases phases_of(const Decision& decision, const CollectiveRequest& request,
                 const GroupShape& group, const Cluster& cluster, const Collectives& collectives) {
  Phases phases = expected_phases(decision, request, group, cluster, collectives);
  // What was measured is what NCCL chose, and says nothing of what a scenario states.
  const CollectiveChoice& choice = choice_for(request.op, collectives);
  if (choice.algorithm != "auto" || choice.protocol) return phases;
  if (const FabricCurve* curve = curve_of(request.op, group, cluster))
    stretch(phases, measured_over_expected(*curve, request, group, cluster, collectives));
  return phases;
}

int channels_of(const Decision& decision, const CollectiveRequest& request, const GroupShape& group,
                const Cluster& cluster, const Collectives& collectives) {
  const CollectiveAlgorithm& algorithm = *decision.algorithm;
  const CollectiveJob job{request, group, cluster, collectives.nccl, decision.protocol, {}};
  if (!algorithm.nccl) return algorithm.channels != nullptr ? algorithm.channels(job) : 0;
  return nccl::channels(communicator_of(group, cluster, collectives.nccl), request.op,
                        *algorithm.nccl, decision.protocol, request.bytes);
}

Phases collective(const CollectiveRequest& request, const GroupShape& group, const Cluster& cluster,
                  const Collectives& collectives) {
  if (group.ranks <= 1) return {};
  return phases_of(decide(request, group, cluster, collectives), request, group, cluster,
                   collectives);
}

Phases inside_node(CollectiveOp op, Bytes bytes, int ranks, const CollectiveJob& job) {
  return collective({op, bytes}, {ranks, 1, 0}, job.cluster, chosen_by_nccl(job));
}

int channels_inside(CollectiveOp op, Bytes bytes, int ranks, const CollectiveJob& job) {
  const CollectiveRequest request{op, bytes};
  const GroupShape node{ranks, 1, 0};
  const Collectives collectives = chosen_by_nccl(job);
  return channels_of(decide(request, node, job.cluster, collectives), request, node, job.cluster,
                     collectives);
}

}  // namespace stepsim
