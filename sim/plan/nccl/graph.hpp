// The channels that NCCL's graph search finds for an algorithm, and what one channel carries.
//
// NVIDIA/nccl v2.30.7 src/graph/search.cc and topo.h: a channel has one of the speeds of a list;
// the search takes the speed at which the channels together carry most. Rings and trees of fast
// channels are split in two. Between nodes there is one channel for each NIC.
#pragma once

#include "sim/plan/nccl/communicator.hpp"
#include "sim/plan/nccl/constants.hpp"

namespace stepsim::nccl {

struct Graph {
  int channels = 0;    ///< number of channels; 0: the algorithm cannot run
  double inside = 0;   ///< what one channel carries between GPUs of a node, in GB/s
  double between = 0;  ///< what one channel carries between nodes, in GB/s
};

Graph graph_of(const Communicator& communicator, Algorithm algorithm);

}  // namespace stepsim::nccl
