// In which order rings visit the GPUs of a node.
#pragma once

#include <functional>
#include <vector>

#include "sim/cluster/node_topology.hpp"

namespace stepsim {

/// How two GPUs are joined: by so many links, the narrowest of that width. One link is a link of
/// their own, which no other pair uses.
struct Joint {
  int links = 0;
  double width = 0;
};

/// Rings over own links where those close one, as NCCL makes them: the widest first, in both
/// directions, then the widest over what is left of the links, down to a quarter of the first.
/// Where they close none: one ring that goes on to the nearest GPU each time.
/// `joint(i, k)` is between the i-th and the k-th of the GPUs.
std::vector<Ring> rings_over(const std::vector<int>& gpus,
                             const std::function<Joint(std::size_t, std::size_t)>& joint);

}  // namespace stepsim
