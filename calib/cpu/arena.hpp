// Memory that measurements take their buffers from, larger than the caches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stepsim::cpu {

/// Sets of buffers that take turns, so that none is still in the cache when its turn comes again.
class Arena {
 public:
  /// Room for three times the cache, 96 to 512 MiB.
  explicit Arena(std::int64_t cache_bytes);

  /// As many sets of `floats` each as make three times the cache, at least one, filled with random
  /// numbers in (0, 1). The last call's are gone. REQUIRES: not more than capacity().
  void deal(std::int64_t floats);
  std::span<float> set(int turn);
  std::int64_t capacity() const { return static_cast<std::int64_t>(memory_.size()); }

 private:
  std::vector<float> memory_;
  std::size_t size_ = 1;
  std::size_t sets_ = 1;
};

}  // namespace stepsim::cpu
