// What NCCL sees of a group: its size, its GPUs' generation, its links and NICs.
#pragma once

#include "sim/core/quantity.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim::nccl {

/// What a communicator is tuned for. Bandwidths are the hardware's, per direction; what NCCL counts
/// of them follows in graph.hpp.
struct Communicator {
  NcclVersion version = NcclVersion::v2_30;
  Architecture architecture = Architecture::ampere;
  int ranks = 1;
  int nodes = 1;
  int nics = 0;             ///< of a node that the group uses
  bool nvlink = true;       ///< joins the GPUs of a node; otherwise PCIe
  bool nvswitch = true;     ///< and every pair of them at full rate
  bool sharp = false;       ///< the switches between nodes reduce (CollNet)
  BytesPerSecond link;      ///< of one GPU inside its node
  BytesPerSecond nic;       ///< of one NIC
  Seconds network_latency;  ///< that the network plugin reports (0 for InfiniBand and RoCE)

  double hop_scale = 1;  ///< of NCCL's own latencies over the network

  int ranks_per_node() const { return (ranks + nodes - 1) / nodes; }
};

}  // namespace stepsim::nccl
