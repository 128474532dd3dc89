// Gradient buckets: averaged over the ranks as soon as enough gradients are complete.
//
// Buckets work as in PyTorch's DistributedDataParallel (torch/csrc/distributed/c10d/reducer.cpp): a
// bucket is full when its gradients reach its size, and is divided by the number of ranks before it
// is summed.
#pragma once

#include <span>

#include "validate/trainer/device.hpp"

namespace stepsim::trainer {

class Buckets {
 public:
  Buckets(Device& device, int ranks, double bucket_bytes)
      : device_(device), size_(ranks), bucket_bytes_(bucket_bytes) {}

  /// Adds gradients that are complete. REQUIRES: they lie right behind the gradients of the last
  /// call.
  void add(std::span<float> gradients);
  /// Moves the sums that are under way.
  void progress() { device_.progress(); }
  /// Sums the last bucket, and waits for all sums.
  void finish();

 private:
  void flush();

  Device& device_;
  int size_;
  double bucket_bytes_;
  std::span<float> open_;
};

}  // namespace stepsim::trainer
