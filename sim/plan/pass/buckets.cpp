// Where buckets end.
#include "sim/plan/pass/buckets.hpp"

#include <algorithm>

namespace stepsim {
namespace {

/// For each gradient, in the order in which buckets are filled, whether it fills one.
std::vector<bool> filled(const std::vector<Bytes>& gradients, const DataParallel& data) {
  std::vector<bool> fills(gradients.size());
  Bytes limit = data.first_bucket, held;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    held += gradients[i];
    if (held < limit) continue;
    fills[i] = true;
    held = Bytes{0};
    limit = data.bucket;
  }
  return fills;
}

}  // namespace

std::vector<bool> bucket_ends(const std::vector<Bytes>& gradients, const DataParallel& data) {
  if (data.bucket_order == BucketOrder::backward) return filled(gradients, data);
  const std::vector<bool> fills = filled({gradients.rbegin(), gradients.rend()}, data);
  // What fills a bucket from the model's front is the first of it that backward completes: the one
  // before it ends another bucket.
  std::vector<bool> ends(gradients.size());
  for (std::size_t i = 0; i < ends.size(); ++i)
    ends[i] = i + 1 == ends.size() || fills[ends.size() - 2 - i];
  return ends;
}

}  // namespace stepsim
