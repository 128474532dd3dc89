// The order in which rings visit the GPUs of a node.
#pragma once

#include <functional>
#include <vector>

#include "sim/cluster/node_topology.hpp"

namespace stepsim {

/// How two GPUs are joined: by `links` links, the narrowest of which has `width`. A single link
/// belongs to them: no other pair uses it.
struct Joint {
  int links = 0;
  double width = 0;
};

/// The rings over some GPUs, whose i-th and k-th are joined by `joint(i, k)`. Where their own links
/// close a ring, they are as NCCL makes them: the widest first, in both directions, then the widest
/// over what is left of the links, down to a quarter of the first. Where they close none: one ring
/// that goes on to the nearest GPU each time.
std::vector<Ring> rings_over(const std::vector<int>& gpus,
                             const std::function<Joint(std::size_t, std::size_t)>& joint);

}  // namespace stepsim
