// The conditions of each algorithm, as sentences.
#include "sim/plan/nccl/refusal.hpp"

#include <fmt/format.h>

#include "sim/plan/nccl/graph.hpp"

namespace stepsim::nccl {
namespace {

bool is_gather_or_scatter(CollectiveOp op) {
  return op == CollectiveOp::all_gather || op == CollectiveOp::reduce_scatter;
}

std::string multicast(const Communicator& c) {
  if (!c.nvswitch) return "needs an NVSwitch between the GPUs of a node";
  if (c.architecture < Architecture::hopper) return "needs GPUs of Hopper or later";
  if (c.ranks_per_node() <= 2)
    return fmt::format("needs more than two GPUs of a node, this group has {}", c.ranks_per_node());
  if (graph_of(c, Algorithm::nvls).channels < 2) return "needs links for two channels";
  return "";
}

std::string reduces_all(const char* what) { return fmt::format("{} all-reduces alone", what); }

std::string of_collnet(const Communicator& c, CollectiveOp op, Algorithm algorithm) {
  if (c.nodes == 1) return "reduces in the switches between nodes, this group lies in one";
  if (!c.sharp) return "needs switches that reduce: inter_node.sharp: true";
  if (algorithm == Algorithm::collnet_chain)
    return op == CollectiveOp::all_reduce ? "" : reduces_all("makes");
  if (!c.nvswitch) return "needs an NVSwitch between the GPUs of a node";
  if (op != CollectiveOp::all_reduce && !is_gather_or_scatter(op))
    return "makes all-reduces, all-gathers and reduce-scatters alone";
  if (is_gather_or_scatter(op) && c.ranks_per_node() > c.nics)
    return fmt::format("gathers and scatters with a NIC for each GPU, {} GPUs of a node have {}",
                       c.ranks_per_node(), c.nics);
  return "";
}

std::string of_nvls(const Communicator& c, CollectiveOp op) {
  if (op != CollectiveOp::all_reduce && !is_gather_or_scatter(op))
    return "makes all-reduces, all-gathers and reduce-scatters alone";
  if (c.nodes > 1 && !c.sharp)
    return "crosses nodes with switches that reduce alone: inter_node.sharp: true";
  return multicast(c);
}

std::string of_nvls_tree(const Communicator& c, CollectiveOp op) {
  if (op != CollectiveOp::all_reduce) return reduces_all("makes");
  if (c.nodes == 1) return "needs several nodes, this group lies in one";
  return multicast(c);
}

std::string of_pat(const Communicator& c, CollectiveOp op) {
  if (!is_gather_or_scatter(op)) return "makes all-gathers and reduce-scatters alone";
  if (c.version == NcclVersion::v2_20) return "came with NCCL 2.23";
  if (c.nodes != c.ranks)
    return fmt::format("needs one GPU a node, this group has {}", c.ranks_per_node());
  return "";
}

}  // namespace

std::string refusal(const Communicator& c, CollectiveOp op, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ring:
      return "";
    case Algorithm::tree:
      return op == CollectiveOp::all_reduce ? "" : reduces_all("makes");
    case Algorithm::collnet_direct:
    case Algorithm::collnet_chain:
      return of_collnet(c, op, algorithm);
    case Algorithm::nvls:
      return of_nvls(c, op);
    case Algorithm::nvls_tree:
      return of_nvls_tree(c, op);
    case Algorithm::pat:
      return of_pat(c, op);
  }
  return "";
}

std::string refusal(const Communicator& c, CollectiveOp op, Algorithm algorithm,
                    Protocol protocol) {
  const std::string whole = refusal(c, op, algorithm);
  if (!whole.empty() || protocol == Protocol::simple) return whole;
  if (algorithm != Algorithm::ring && algorithm != Algorithm::tree)
    return "has the Simple protocol alone";
  if (protocol == Protocol::ll) return "";
  if (!c.nvlink) return "has LL128 over NVLink alone";
  if (c.version == NcclVersion::v2_20 && c.architecture == Architecture::blackwell)
    return "has LL128 on Blackwell from NCCL 2.27 on";
  return "";
}

}  // namespace stepsim::nccl
