// Which gradients are reduced together: where buckets end.
//
// A bucket is closed by the gradient that makes it reach its size. PyTorch fills buckets in the
// order in which gradients become ready (pytorch/pytorch torch/csrc/distributed/c10d/reducer.cpp,
// rebuild_buckets). Before it could rebuild them (pull request 35137) it filled them in the order
// in which parameters are defined and reduced the last one first, so that the small first bucket
// held the model's front, "such that their gradients don't spill into a much larger bucket, adding
// unnecessary latency after gradient computation finishes" (torch/nn/parallel/distributed.py,
// _ddp_init_helper).
#pragma once

#include <vector>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// For each gradient, in the order in which the backward pass completes them, whether a bucket ends
/// with it. What comes after the last end is a bucket that is not full.
std::vector<bool> bucket_ends(const std::vector<Bytes>& gradients, const DataParallel& data);

}  // namespace stepsim
