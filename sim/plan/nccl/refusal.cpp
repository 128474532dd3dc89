// Writes the conditions of each algorithm as sentences.
#include "sim/plan/nccl/refusal.hpp"

#include <fmt/format.h>

#include "sim/plan/collective.hpp"
#include "sim/plan/nccl/graph.hpp"

namespace stepsim::nccl {
namespace {

bool is_multicast(Algorithm a) { return a == Algorithm::nvls || a == Algorithm::nvls_tree; }

/// The ops that the algorithm makes, as the end of a sentence, where `op` is not one of them.
std::string other_op(CollectiveOp op, Algorithm algorithm) {
  const bool all_reduce = op == CollectiveOp::all_reduce;
  switch (algorithm) {
    case Algorithm::ring:
      return "";
    case Algorithm::tree:
    case Algorithm::collnet_chain:
    case Algorithm::nvls_tree:
      return all_reduce ? "" : "makes all-reduces alone";
    case Algorithm::pat:
      return is_gather_or_scatter(op) ? "" : "makes all-gathers and reduce-scatters alone";
    case Algorithm::collnet_direct:
    case Algorithm::nvls:
      return all_reduce || is_gather_or_scatter(op)
                 ? ""
                 : "makes all-reduces, all-gathers and reduce-scatters alone";
  }
  return "";
}

std::string of_multicast(const Communicator& c) {
  if (c.ranks_per_node() <= 2)
    return fmt::format("needs more than two GPUs of a node, this group has {}", c.ranks_per_node());
  if (graph_of(c, Algorithm::nvls).channels < 2) return "needs links for two channels";
  return "";
}

std::string of_shape(const Communicator& c, CollectiveOp op, Algorithm algorithm) {
  const bool one_node = c.nodes == 1;
  switch (algorithm) {
    case Algorithm::ring:
    case Algorithm::tree:
      return "";
    case Algorithm::collnet_direct:
      if (one_node) return "reduces in the switches between nodes, this group lies in one";
      if (is_gather_or_scatter(op) && c.ranks_per_node() > c.nics)
        return fmt::format(
            "gathers and scatters with a NIC for each GPU, {} GPUs of a node have {}",
            c.ranks_per_node(), c.nics);
      return "";
    case Algorithm::collnet_chain:
      return one_node ? "reduces in the switches between nodes, this group lies in one" : "";
    case Algorithm::nvls:
      if (!one_node && !c.sharp)
        return "crosses nodes with switches that reduce alone: inter_node.sharp: true";
      if (is_gather_or_scatter(op) && c.ranks_per_node() > kMostHeads)
        return fmt::format(
            "gathers and scatters among {} GPUs of a node at most, this group has {}", kMostHeads,
            c.ranks_per_node());
      return of_multicast(c);
    case Algorithm::nvls_tree:
      return one_node ? "needs several nodes, this group lies in one" : of_multicast(c);
    case Algorithm::pat:
      return c.nodes == c.ranks
                 ? ""
                 : fmt::format("needs one GPU a node, this group has {}", c.ranks_per_node());
  }
  return "";
}

}  // namespace

std::string lacking(const Communicator& c, Algorithm algorithm) {
  const bool collnet =
      algorithm == Algorithm::collnet_direct || algorithm == Algorithm::collnet_chain;
  if (collnet && c.version == NcclVersion::v2_4) return "came with NCCL 2.6";
  if (collnet && !c.sharp) return "needs switches that reduce: inter_node.sharp: true";
  if ((is_multicast(algorithm) || algorithm == Algorithm::collnet_direct) && !c.nvswitch)
    return "needs an NVSwitch between the GPUs of a node";
  if (is_multicast(algorithm) && c.architecture < Architecture::hopper)
    return "needs GPUs of Hopper or later";
  if (is_multicast(algorithm) && c.version == NcclVersion::v2_4) return "came with NCCL 2.17";
  if (algorithm == Algorithm::pat && c.version <= NcclVersion::v2_20) return "came with NCCL 2.23";
  return "";
}

std::string protocol_refusal(const Communicator& c, Algorithm algorithm, Protocol protocol) {
  if (protocol == Protocol::simple) return "";
  if (algorithm != Algorithm::ring && algorithm != Algorithm::tree)
    return "has the Simple protocol alone";
  if (protocol == Protocol::ll) return "";
  if (c.version == NcclVersion::v2_4) return "has LL128 from NCCL 2.5 on";
  if (!c.nvlink) return "has LL128 over NVLink alone";
  if (c.version <= NcclVersion::v2_20 && c.architecture == Architecture::blackwell)
    return "has LL128 on Blackwell from NCCL 2.27 on";
  return "";
}

std::string refusal(const Communicator& c, CollectiveOp op, Algorithm algorithm) {
  std::string reason = other_op(op, algorithm);
  if (reason.empty()) reason = of_shape(c, op, algorithm);
  return reason.empty() ? lacking(c, algorithm) : reason;
}

}  // namespace stepsim::nccl
