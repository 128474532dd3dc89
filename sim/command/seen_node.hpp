// A node as another program sees it, and the cluster file that follows from it.
//
// `nvidia-smi topo -m` says how many NVLinks join two GPUs, and how far apart devices are on PCIe;
// NCCL's topology file has the whole PCIe tree. What neither says is assumed, and noted.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

struct SeenNode {
  std::string source;  ///< "nvidia-smi topo -m"
  int gpus = 0;
  std::vector<std::string> nics;          ///< their names there
  std::vector<std::vector<int>> nvlinks;  ///< from GPU to GPU: links of their own, not by a switch
  int switched = 0;                       ///< NVLinks of each GPU to NVSwitch
  std::vector<std::vector<int>> apart;    ///< from GPU to NIC: larger is farther

  /// The PCIe tree: `gpu 0`, `nic 0` (in the order of `nics`) and switches; empty: not known.
  std::vector<std::string> switches;
  std::vector<GraphLink> pcie;  ///< of bandwidth 0: as the slot of the GPU
  std::vector<std::string> pcie_notes;

  std::string gpu;               ///< a profile; "" where the source does not say
  BytesPerSecond nic_bandwidth;  ///< 0: not said
  std::vector<std::string> notes;
};

/// The YAML of a cluster of such nodes, with what was assumed in comments. `gpu`: a profile to use
/// instead of the one that was recognised; "": none. Throws UserError when that is unknown.
std::string cluster_text(SeenNode node, const std::string& gpu);

SeenNode read_topo_matrix(const std::string& text, const std::string& file);
SeenNode read_nccl_topology(const std::string& text, const std::string& file);

}  // namespace stepsim
