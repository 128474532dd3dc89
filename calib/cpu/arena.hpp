// Memory that measurements take their buffers from: beyond the caches, or as much as a training
// has.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stepsim::cpu {

/// Bytes beyond the cache: three times the cache, 96 to 512 MiB, so that no set of buffers is still
/// in the cache when its turn comes again.
std::int64_t beyond_cache(std::int64_t cache_bytes);

/// Memory that is dealt out as sets of buffers, which take turns.
class Arena {
 public:
  explicit Arena(std::int64_t bytes);

  /// Deals as many sets of `floats` each as there is room for, at least one, and fills all of them
  /// with equal random numbers in (0, 1). The sets of the last call are gone. REQUIRES: not more
  /// than capacity().
  void deal(std::int64_t floats);
  std::span<float> set(int turn);
  std::int64_t capacity() const { return static_cast<std::int64_t>(memory_.size()); }

 private:
  std::vector<float> memory_;
  std::size_t size_ = 1;
  std::size_t sets_ = 1;
};

}  // namespace stepsim::cpu
