// Gradient buckets: averaged over the ranks as soon as enough gradients are complete.
//
// As in PyTorch's DistributedDataParallel (torch/csrc/distributed/c10d/reducer.cpp): a bucket is
// full when its gradients reach its size, and is divided by the number of ranks before it is
// summed.
#pragma once

#include <span>

#include "calib/cpu/ranks.hpp"

namespace stepsim::trainer {

class Buckets {
 public:
  Buckets(const cpu::Ranks& ranks, double bucket_bytes)
      : size_(ranks.size()), bucket_bytes_(bucket_bytes), reductions_(ranks) {}

  /// REQUIRES: right behind the gradients of the last call.
  void add(std::span<float> gradients);
  /// Moves what is under way.
  void progress() { reductions_.progress(); }
  /// The last bucket, and the end of all.
  void finish();

 private:
  void flush();

  int size_;
  double bucket_bytes_;
  std::span<float> open_;
  cpu::AllReduces reductions_;
};

}  // namespace stepsim::trainer
