// Gathers gradients in a bucket, which is summed over the ranks when it is full.
#include "validate/trainer/buckets.hpp"

namespace stepsim::trainer {

void Buckets::add(std::span<float> gradients) {
  if (size_ == 1) return;
  open_ = {open_.empty() ? gradients.data() : open_.data(), open_.size() + gradients.size()};
  if (static_cast<double>(open_.size_bytes()) >= bucket_bytes_) flush();
}

void Buckets::flush() {
  if (open_.empty()) return;
  device_.scale(open_.data(), 1.0F / static_cast<float>(size_), open_.size());
  device_.start_sum(open_.data(), open_.size());
  open_ = {};
}

void Buckets::finish() {
  flush();
  device_.finish_sums();
}

}  // namespace stepsim::trainer
