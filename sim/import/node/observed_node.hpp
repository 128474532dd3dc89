// A node as another program sees it, and the cluster file that follows from it.
//
// `nvidia-smi topo -m` says how many NVLinks join two GPUs, and how far apart devices are on PCIe;
// NCCL's topology file has the whole PCIe tree. What neither says is a default, whose line in the
// cluster file ends with `# not seen: ...`, and which the draft lists as assumed.
#pragma once

#include <string>
#include <vector>

#include "sim/import/draft.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

struct ObservedNode {
  std::string source;  ///< "nvidia-smi topo -m"
  int gpus = 0;
  std::vector<std::string> nics;          ///< names of the NICs in the source
  std::vector<std::vector<int>> nvlinks;  ///< from GPU to GPU: links of their own, not by a switch
  int switched = 0;                       ///< NVLinks of each GPU to NVSwitch
  bool are_nvlinks_untold = false;        ///< the source leaves all NVLinks to the driver
  bool is_beside_cpu = false;             ///< memory of GPUs is a NUMA node: GH200, GB200
  std::vector<std::vector<int>> apart;    ///< from GPU to NIC: larger is farther

  /// The PCIe tree: `gpu 0`, `nic 0` (in the order of `nics`) and switches; empty: not known.
  std::vector<std::string> switches;
  std::vector<GraphLink> pcie;  ///< links of the tree; bandwidth 0: as the slot of the GPU
  std::vector<std::string> pcie_notes;

  std::string gpu;                        ///< a profile; "" where the source does not say
  BytesPerSecond slot;                    ///< payload of a GPU's PCIe slot; 0: not said
  double slot_speed = 0;                  ///< GT/s of a GPU's PCIe link; 0: not said
  std::vector<BytesPerSecond> nic_rates;  ///< rate of each NIC; 0, or none at all: not said
  std::vector<std::string> notes;
  std::vector<Assumption> assumptions;  ///< of the reader

  /// Where it was seen, for comments; "": as `source` says.
  std::string gpu_from, gpus_from, nvlinks_from, slot_from, rates_from;
};

/// A cluster of such nodes; a comment at each number says where it comes from. `gpu`: a profile to
/// use instead of the one that was recognised; "": none. Throws UserError when that is unknown.
Draft cluster_draft(ObservedNode node, const std::string& gpu);
std::string cluster_text(ObservedNode node, const std::string& gpu);

/// Reads that as a scenario would. Throws UserError where it finds a mistake.
void check_cluster(const std::string& text, int gpus, const std::string& file);

ObservedNode read_topo_matrix(const std::string& text, const std::string& file);
ObservedNode read_nccl_topology(const std::string& text, const std::string& file);

}  // namespace stepsim
