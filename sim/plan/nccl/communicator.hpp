// What NCCL sees of a group: its size, its GPUs' generation, its links and NICs.
#pragma once

#include "sim/core/quantity.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim::nccl {

/// What NCCL tunes a communicator for. Bandwidths are those of the hardware, per direction;
/// graph.hpp has what NCCL counts of them.
struct Communicator {
  NcclVersion version = NcclVersion::v2_30;
  Architecture architecture = Architecture::ampere;
  int ranks = 1;
  int nodes = 1;
  int nics = 0;             ///< NICs of one node that the group uses
  bool nvlink = true;       ///< true: NVLink joins the GPUs of a node; false: PCIe does
  bool nvswitch = true;     ///< true: NVSwitch joins every pair of GPUs of a node at full rate
  bool sharp = false;       ///< true: the switches between nodes reduce (CollNet)
  BytesPerSecond link;      ///< bandwidth of one GPU inside its node
  BytesPerSecond nic;       ///< bandwidth of one NIC
  Seconds network_latency;  ///< latency that the network plugin reports (0 for InfiniBand and RoCE)

  double hop_scale = 1;  ///< factor on NCCL's own latencies over the network

  int ranks_per_node() const { return (ranks + nodes - 1) / nodes; }
};

}  // namespace stepsim::nccl
