// A node whose links are a drawn graph: routes between its GPUs, to its NICs, and rings.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/node_topology.hpp"

namespace stepsim {

/// A drawing of a node. Links join "gpu 0..7", "nic 0..3" and switches, which also stand for CPUs.
struct NodeDrawing {
  std::vector<std::string> switches;
  std::vector<GraphLink> links;
};

/// The wiring of a drawn node. GPUs pass on what GPUs send to each other, over the fewest links,
/// then the widest; what goes to a NIC crosses switches only. A NIC without a link is not looked
/// at. REQUIRES: no objections to the drawing.
NodeWiring wiring_of(const NodeDrawing& drawing, const Cluster& cluster);

/// What is wrong with a drawing that the scenario states.
std::vector<Objection> objections_to(const NodeDrawing& drawing, const Cluster& cluster);

/// The first GPU that uses a NIC: built-in drawings put both below one switch.
int first_gpu_of(int nic, const Cluster& cluster);

}  // namespace stepsim
